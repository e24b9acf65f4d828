"""Messages of each rule for its bad cases, stored beside them: a changed message shows in the difference of a commit.

`python -m tests.validator.rules.messages` writes these files.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path

import yaml

from tests.validator.rules import cases
from trainyard.document.document import Edit, Place
from trainyard.engine.finding import Finding

FILE = "messages.yaml"


def said(findings: list[Finding]) -> list[str]:
    """Returns the findings of a case as texts: the line, the message, the notes, the help and the fix."""
    return [_text(finding) for finding in findings]


def _text(finding: Finding) -> str:
    notes = [f"note: line {position.line}: {words}" for position, words in finding.related]
    helps = [f"help: {finding.help}"] if finding.help else []
    fixes = [f"fix: {_edit(edit)}" for edit in finding.edits]
    return "; ".join((f"line {finding.position.line}: {finding.message}", *notes, *helps, *fixes))


def _edit(edit: Edit) -> str:
    """Returns an edit as its name, its place and what it writes."""
    at, *written = edit
    assert isinstance(at, Place)
    return " ".join((type(edit).__name__, ".".join(map(str, at.path)), *(json.dumps(value) for value in written)))


@cache
def stored(folder: Path) -> dict[str, list[str]]:
    """Returns the messages of the bad cases in a folder, by the name of the file; nothing where none are stored."""
    file = folder / FILE
    found: dict[str, list[str]] = (
        yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) if file.exists() else {}
    )
    return found


def write() -> None:
    """Stores the messages of all bad cases."""
    folders: dict[Path, dict[str, list[str]]] = {}
    for rule in cases.every_rule():
        for path in cases.case_files(rule, "bad"):
            folders.setdefault(path.parent, {})[path.name] = said(cases.lint(cases.load(path), (rule,)))
    for folder, messages in folders.items():
        text = yaml.safe_dump(messages, allow_unicode=True, width=float("inf"))
        (folder / FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    # Without a parser `--help` would write the files.
    argparse.ArgumentParser(description=__doc__).parse_args()
    write()
