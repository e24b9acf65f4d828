"""A diagnosis as text, and as a tree for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.commands.doctor.diagnosis import Diagnosis
from trainyard.commands.doctor.evidence import Evidence

VERSION = 1
_WIDTH = 240
_MOST_NAMES = 8


def text(result: Diagnosis) -> Iterator[str]:
    """Returns the lines of the report."""
    if not result.causes:
        yield f"No known cause in {_count(result.lines, 'line')} of {_count(len(result.files), 'log')}."
        yield "Add the logs of all pods, `kubectl describe pods --show-events`, and dmesg of the nodes."
        yield from _rest(result)
        return
    if result.first is not None:
        first = result.first
        place = f"{first.file}:{first.line}"
        yield f"first failure: {first.origin} ({place}), confidence {first.confidence}: {first.reason}"
        if result.taken_down:
            yield f"after it: {_names(result.taken_down)}"
        yield ""
    for evidence in result.causes:
        yield from _cause(evidence)
        yield ""
    yield from _rest(result)


def _rest(result: Diagnosis) -> Iterator[str]:
    others = (
        ("followed from it", result.consequences),
        ("noticed as well", result.hints),
        ("the run went on after", result.survived),
    )
    for title, rest in others:
        for evidence in rest:
            line = evidence.lines[0]
            yield f"{title}: {line.file}:{line.number}: {evidence.cause.title} ({evidence.cause.name})"


def _cause(evidence: Evidence) -> Iterator[str]:
    cause, line = evidence.cause, evidence.lines[0]
    yield f"{line.file}:{line.number}: {cause.title} ({cause.name}), confidence {cause.confidence}"
    yield f"  line  {line.text.strip()[:_WIDTH]}"
    if line.frame:
        yield f"  at    {line.frame}"
    if evidence.origins:
        yield f"  from  {_names(evidence.origins)}; {_count(evidence.count, 'line')}"
    yield f"  why   {cause.explanation}"
    yield f"  do    {cause.remedy}"
    if cause.rules:
        yield f"  rules {', '.join(cause.rules)} (trainyard explain RULE)"
    yield f"  see   {cause.source}"


def _names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def tree(result: Diagnosis) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "version": VERSION,
        "first_failure": result.first._asdict() if result.first is not None else None,
        "taken_down": result.taken_down,
        "causes": [_tree(evidence) for evidence in result.causes],
        "consequences": [_tree(evidence) for evidence in result.consequences],
        "hints": [_tree(evidence) for evidence in result.hints],
        "survived": [_tree(evidence) for evidence in result.survived],
        "files": result.files,
        "skipped": result.skipped,
        "lines": result.lines,
    }


def _tree(evidence: Evidence) -> dict[str, Any]:
    cause, line = evidence.cause, evidence.lines[0]
    return {
        "cause": cause.name,
        "title": cause.title,
        "confidence": cause.confidence,
        "evidence": {"file": line.file, "line": line.number, "text": line.text.strip(), "frame": line.frame or None},
        "count": evidence.count,
        "origins": evidence.origins,
        "explanation": cause.explanation,
        "remedy": cause.remedy,
        "rules": list(cause.rules),
        "source": cause.source,
    }
