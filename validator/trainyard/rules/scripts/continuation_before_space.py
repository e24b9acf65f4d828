r"""Spaces follow a backslash at the end of a line, so the command ends there.

A backslash joins two lines only if nothing follows it. With a space behind it, the shell passes one space as an
argument, and runs the next line as a command of its own. `accelerate launch` then gets half of its options, or no
script, and `--num_machines` is "command not found". Editors do not show the space.

Remove the spaces after the backslash.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container
from trainyard.startup import pattern

_SPACED = pattern(r"(?<!\\)\\[ \t]+$")


@rule(
    code="SC020",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "POSIX shell command language, 2.2.1: escape character; bash 5.2 (seen)",
        "github.com/FreedomIntelligence/HuatuoGPT issue 25",
    ),
    needs=("\\ ", "\\\t"),
)
def continuation_before_space(container: Container) -> Iterator[Problem]:
    """Report backslashes that do not join their lines."""
    for script in container.scripts:
        lines = script.text.split("\n")
        for number, line in enumerate(lines[:-1]):
            # Without a further option on the next line, the space is harmless.
            if _SPACED.search(line) and not line.lstrip().startswith("#") and lines[number + 1].strip():
                yield Problem(
                    script.at.below(number),
                    "spaces follow the backslash: the command ends here, and the next line is a command of its own",
                    "remove the spaces behind the backslash",
                )
