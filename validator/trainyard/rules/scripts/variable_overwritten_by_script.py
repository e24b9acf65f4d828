"""The script of the container sets a variable of its own environment to another value, which hides the first one.

`env` of the manifest is what a user changes, and `export NAME=value` in the script wins over it: the value in the
manifest never has an effect.

The rule leaves out scripts that read the variable too, as in `export NAME=${NAME:-value}`, and lists that keep the
value as one of their parts.

Write the value in one place, or `export NAME="${NAME:-default}"` in the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Setting


@rule(
    code="SC014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pubs.opengroup.org Shell Command Language: export replaces the value from the environment",
        "github.com/awslabs/awsome-distributed-ai pull 1256",
    ),
    needs=("export",),
)
def variable_overwritten_by_script(container: Container) -> Iterator[Problem]:
    """Report variables of `env` that the script replaces."""
    last: dict[str, Setting] = {}
    for setting in container.settings:
        if setting.via == "env" and setting.value is not None and setting.at.path[-3:-2] == ("env",):
            last[setting.name] = setting
        elif setting.via == "script" and setting.name in last:
            before = last.pop(setting.name)
            if not _is_kept(before.value, setting.value) and not _is_read(setting.name, container):
                yield Problem(
                    before.at,
                    f"the script sets {setting.name} to `{setting.value}`: `{before.value}` has no effect",
                    f'write `export {setting.name}="${{{setting.name}:-...}}"` in the script, or remove one of the two',
                    related=((setting.at, "the script"),),
                )


def _is_kept(value: str | None, replacement: str | None) -> bool:
    """True if the script writes the same value, or a list with it; a number in a list is another choice."""
    if value == replacement or not value or not replacement:
        return value == replacement
    parts = rf"(?:^|[,;:\s]){re.escape(value)}(?:$|[,;:\s])"
    return not value.isdigit() and re.search(parts, replacement) is not None


def _is_read(name: str, container: Container) -> bool:
    """True if a script reads the variable before or after it sets it."""
    pattern = re.compile(rf"\$\{{?{re.escape(name)}\b")
    return any(pattern.search(script.text) for script in container.scripts)
