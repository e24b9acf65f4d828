"""The index of the validator's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainyard.engine import registry
from trainyard.engine.rule import Rule

FILES = "validator/trainyard/engine/rule_index.py"

HEAD = '''\
"""The index of rules, a line for each: facts known before a rule is imported. Written by `make rules`; do not edit.

A field that has its default value is left out. `family` is the folder that the rule is in.
"""

from __future__ import annotations

from typing import Any

# fmt: off
RULES: tuple[dict[str, Any], ...] = (
'''

DEFAULTS = Rule._field_defaults


def entry(rule: Rule) -> dict[str, Any]:
    """Returns the line of a rule: the fields that differ from their defaults."""
    fields = {name: value for name, value in rule._asdict().items() if name not in ("check", "name", "module")}
    fields["parameters"] = rule.parameters is not None
    family, name = rule.module.split(".")[-2:]
    own = {key: value for key, value in fields.items() if value != DEFAULTS.get(key, ...) and value is not False}
    return {"family": family, "name": name, **own}


def write(root: Path) -> None:
    """Writes the index below a root."""
    path = root / FILES
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(f"    {entry(rule)!r},\n" for rule in registry.discover()) + ")\n")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
