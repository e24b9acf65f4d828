"""The index of the validator's rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from validator import registry
from validator.rule import Rule

FILES = "validator/index.py"

HEAD = '''"""What is to be known of every rule before it is imported. Written by `make generate`; do not edit."""

from __future__ import annotations

from typing import Any

RULES: tuple[dict[str, Any], ...] = (
'''


def entry(rule: Rule) -> dict[str, Any]:
    """What the index says of a rule."""
    fields = {name: value for name, value in rule._asdict().items() if name != "check"}
    return {**fields, "parameters": rule.parameters is not None}


def write(root: Path) -> None:
    """Write it under a root."""
    lines = [f"    {entry(rule)!r},\n" for rule in registry.discover()]
    path = root / FILES
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(lines) + ")\n")
    ruff = Path(sys.executable).with_name("ruff")
    subprocess.run([ruff, "format", "--quiet", "--line-length=120", "--isolated", path], check=True)
