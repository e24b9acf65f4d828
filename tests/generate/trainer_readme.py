"""The tables in the trainer's README: its fields, and its files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from trainer.config import TrainerConfig
from trainer.config.file import spelled
from trainer.config.option import flag

ROOT = Path(__file__).parents[2]
FILES = "trainer/README.md"


def field_table() -> Iterator[str]:
    """A line for each field."""
    yield "| flag | default | meaning |"
    yield "| --- | --- | --- |"
    for field in fields(TrainerConfig):
        default = spelled(field.default) or '""'
        yield f"| `{flag(field.name)}` | `{default}` | {field.metadata['help']} |"


def file_table() -> Iterator[str]:
    """A line for each file, in its own words."""
    yield "| file | what it is |"
    yield "| --- | --- |"
    package = ROOT / "trainer"
    for path in sorted(package.rglob("*.py"), key=lambda path: (len(path.parts) > len(package.parts) + 1, path)):
        if path.name != "__init__.py":
            documented = ast.get_docstring(ast.parse(path.read_text())) or ""
            yield f"| `{path.relative_to(package)}` | {documented.partition(chr(10))[0]} |"


def write(root: Path) -> None:
    """Write the README under a root, with each table between its two marks."""
    text = (ROOT / FILES).read_text()
    for name, table in (("fields", field_table()), ("files", file_table())):
        before, start, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        text = before + start + "".join(f"{line}\n" for line in table) + end + after
    (root / FILES).parent.mkdir(exist_ok=True)
    (root / FILES).write_text(text)
