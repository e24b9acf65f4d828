"""Writes a suppression of a finding: a comment above its line, or an annotation on its object where none can stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainyard.document.document import Add, Document, Edit, SetValue
from trainyard.document.lookup import mapping
from trainyard.document.source import Source, offset
from trainyard.editing import Draft
from trainyard.editing.meaning import has_meaning
from trainyard.engine.selection import ALWAYS
from trainyard.linting.fixing import is_same
from trainyard.linting.suppression import ANNOTATION

if TYPE_CHECKING:
    from trainyard.document.files import File
    from trainyard.engine.finding import Finding
    from trainyard.linting.report import Report


def can_allow(finding: Finding) -> bool:
    """True for a rule that a suppression can turn off."""
    return finding.rule.name not in ALWAYS and finding.rule.subject != "Suppression"


def allow(
    finding: Finding,
    reason: str,
    report: Report,
    files: Sequence[File],
    lint: Callable[[tuple[File, ...]], Report],
) -> tuple[File, ...] | None:
    """Returns the files with a finding allowed, None if no suppression covers it and changes nothing else.

    `report` is the one with the finding. `lint` judges the files after a suppression is written.
    """
    for text in _texts(finding, f"{finding.rule.name}: {reason}", report):
        source = finding.position.source
        drafts = tuple(
            file._replace(source=Source(source.name, text, source.folder)) if file.source is source else file
            for file in files
        )
        after = lint(drafts)
        is_gone = any(is_same_fault(one, finding) for one, _ in after.allowed)
        if is_gone and len(after.findings) < len(report.findings):
            return drafts
    return None


def is_same_fault(one: Finding, other: Finding) -> bool:
    """True if two findings say the same about a file, at whatever line."""
    return (one.rule, one.message, one.position.source.name) == (
        other.rule,
        other.message,
        other.position.source.name,
    ) or is_same(one, other)


def _texts(finding: Finding, words: str, report: Report) -> Iterator[str]:
    """Yields the texts to try, the least change first."""
    source = finding.position.source
    text = _with_comment(source, finding.position.line, words)
    if has_meaning(source, (), text):
        yield text
    draft = Draft(source)
    if any(draft.make([edit]) for edit in _annotations(finding, words, report)):
        yield draft.text


def _with_comment(source: Source, line: int, words: str) -> str:
    text = source.text
    start = offset(text, line - 1, 0)
    indent = text[start : start + len(text[start:]) - len(text[start:].lstrip(" "))]
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:start]}{indent}# trainyard: allow {words}{newline}{text[start:]}"


def _annotations(finding: Finding, words: str, report: Report) -> Iterator[Edit]:
    """Yields the edit that annotates the object with the finding."""
    position = finding.position
    for resource in report.project.resources:
        document = resource.at.document
        if type(document) is not Document or document.source is not position.source:
            continue
        _, first, last = document.extent(resource.at)
        if first <= position.line <= last:
            at = resource.at.child("metadata", "annotations")
            written = mapping(resource.tree, "metadata", "annotations").get(ANNOTATION)
            if isinstance(written, str):
                yield SetValue(at.child(ANNOTATION), f"{written.rstrip('; ')}; {words}")
            else:
                yield Add(at, ANNOTATION, words)
