"""The tables of options and of files in the trainer's README."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from tools import markdown
from trainer.config import TrainerConfig
from trainer.config.file import spelled
from trainer.config.option import flag

ROOT = Path(__file__).parents[2]
FILES = "trainer/README.md"


def field_table() -> Iterator[Sequence[str]]:
    """Yield a row for each option."""
    for field in fields(TrainerConfig):
        default = spelled(field.default) or '""'
        yield f"`{flag(field.name)}`", f"`{default}`", field.metadata["help"]


def file_table() -> Iterator[Sequence[str]]:
    """Yield a row for each file, with the first line of its docstring."""
    package = ROOT / "trainer"
    for path in sorted(package.rglob("*.py"), key=lambda path: (len(path.parts) > len(package.parts) + 1, path)):
        if path.name != "__init__.py":
            documented = ast.get_docstring(ast.parse(path.read_text())) or ""
            yield f"`{path.relative_to(package)}`", documented.partition("\n")[0]


def write(root: Path) -> None:
    """Write the README below a root, with each table between its markers."""
    text = (ROOT / FILES).read_text()
    text = markdown.replace_section(text, "fields", markdown.table(("flag", "default", "meaning"), field_table()))
    text = markdown.replace_section(text, "files", markdown.table(("file", "what it is"), file_table()))
    (root / FILES).parent.mkdir(exist_ok=True)
    (root / FILES).write_text(text)
