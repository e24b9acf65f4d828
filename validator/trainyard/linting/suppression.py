"""Suppressions with reasons: a comment at the line, an annotation on the object, or an entry of the configuration.

    value: "1"  # trainyard: allow nccl-ib-disabled-with-rdma: these nodes have no working InfiniBand

A comment on its own line applies to the next line that is not a comment. The annotation `trainyard/allow` has the same
syntax, with entries separated by `;`, and applies to its whole object or pod template.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Edit, Place, Remove
from trainyard.document.lookup import mapping
from trainyard.document.source import Position, lines
from trainyard.engine.rule import Rule
from trainyard.engine.subjects import Suppression
from trainyard.startup import NamedTuple, pattern

if TYPE_CHECKING:
    from trainyard.engine.finding import Finding
    from trainyard.engine.subjects import Reading
    from trainyard.model.run import Project

ANNOTATION = "trainyard/allow"
# Stop suggesting after so many unknown names: fuzzy matching is slow.
_MAX_GUESSES = 20
# Suppressions of a file that count, because each is compared with each finding of its rule.
MAX_IN_FILE = 1_000
_COMMENT = pattern(r"(?:^|(?<=\s))#\s*trainyard:\s*allow\b(.*)$")
_NAME = pattern(r"[\w-]*")
_SEPARATOR = pattern(r";\s*(?=[\w-]+\s*:)|;\s*$")


class Allowance(NamedTuple):
    """An entry `allow` of the configuration: the rule, the files in which it is allowed, and the reason."""

    rule: str
    covers: Callable[[str], bool]
    reason: str
    at: Place


_Written = tuple[str, str, Place, "Callable[[Finding], bool]", tuple[Edit, ...]]


def collect(
    readings: Iterable[Reading],
    projects: Iterable[Project],
    allowances: Iterable[Allowance],
    judged: Iterable[Rule],
    checks: Sequence[Rule] = (),
) -> list[Suppression]:
    """Returns every suppression in the files and the configuration. `checks` are the rules of the configuration."""
    known = list(readings)
    in_files = [
        *(entry for reading in known if "trainyard:" in reading.source.text for entry in _limited(_comments(reading))),
        *_limited(_annotations(projects)),
    ]
    in_config = [(entry.rule, entry.reason, entry.at, _in_files(entry), ()) for entry in allowances]
    if not in_files and not in_config:
        return []
    on = {rule.code for rule in judged}
    # If only some of the project's files were linted, an entry may be needed for the others.
    on_in_config = on if any(_is_all_around(entry.at, known) for entry in allowances) else set[str]()
    return [*_named(in_files, on, checks), *_named(in_config, on_in_config, checks)]


def _limited(written: Iterator[_Written]) -> Iterator[_Written]:
    """Yields the first suppressions; those beyond the limit have no effect, so that their findings stay."""
    yield from itertools.islice(written, MAX_IN_FILE)


def cut(entries: Sequence[Suppression]) -> Iterator[str]:
    """Yields a note for each file that reaches the limit."""
    if len(entries) < MAX_IN_FILE:
        return
    for name, count in Counter(entry.at.document.source.name for entry in entries).items():
        if count >= MAX_IN_FILE:
            yield f"{name}: only the first {MAX_IN_FILE:,} suppressions of a file count"


def _named(written: Iterable[_Written], judged: set[str], checks: Sequence[Rule]) -> Iterator[Suppression]:
    from trainyard.engine import registry, selection

    guesses = _MAX_GUESSES
    for name, reason, at, covers, edits in written:
        rule = registry.find_rule(name, checks)
        entry = Suppression(name, rule, reason, at, covers, rule is not None and rule.code in judged, edits)
        if rule is None and guesses:
            guesses -= 1
            entry = entry._replace(suggestion=selection.suggestion(name, checks))
        yield entry


def _is_all_around(config: Place, readings: Iterable[Reading]) -> bool:
    """True if a folder that contains the configuration was linted."""
    own = os.path.abspath(config.document.source.name)
    folders = {reading.folder for reading in readings if reading.folder is not None}
    return any(own.startswith(os.path.join(os.path.abspath(folder), "")) for folder in folders)


def sift(
    findings: list[Finding], entries: list[Suppression]
) -> tuple[list[Finding], list[tuple[Finding, str]], list[Suppression]]:
    """Returns the remaining findings, the suppressed ones with the reason, and the entries with their `used` set."""
    by_code: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        if entry.rule is not None:
            by_code[entry.rule.code].append(index)
    kept: list[Finding] = []
    allowed: list[tuple[Finding, str]] = []
    used: set[int] = set()
    for finding in findings:
        covering = [index for index in by_code.get(finding.rule.code, ()) if entries[index].covers(finding)]
        used.update(covering)
        if covering:
            allowed.append((finding, entries[covering[0]].reason))
        else:
            kept.append(finding)
    return kept, allowed, [entry._replace(used=index in used) for index, entry in enumerate(entries)]


def _entries(words: str) -> list[tuple[str, str]]:
    """Returns names and reasons out of `name: reason; name2: reason`."""
    parts = (part.partition(":") for part in _SEPARATOR.split(words) if part.strip())
    entries = [(name.strip(), reason.strip()) for name, _, reason in parts]
    return [entry for entry in entries if _NAME.fullmatch(entry[0])] or [("", "")]


def _comments(reading: Reading) -> Iterator[_Written]:
    numbered = lines(reading.source)
    following = _following(numbered)
    for number, line in enumerate(numbered):
        if (match := _COMMENT.search(line)) is None:
            continue
        target = number if line[: match.start()].strip() else following[number]
        at = reading.text.span(number, match.start(), match.end())
        entries = _entries(match[1])
        for name, reason in entries:
            edits = (Remove(at),) if len(entries) == 1 else ()
            yield name, reason, at, _on_line(reading.source.name, target + 1), edits


def _following(numbered: Sequence[str]) -> list[int]:
    """Returns for each line the number of the next one, itself included, that is not a comment; its own if none is."""
    following = list(range(len(numbered)))
    below: int | None = None
    for number in reversed(following[:]):
        if _has_content(numbered[number]):
            below = number
        elif below is not None:
            following[number] = below
    return following


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _annotations(projects: Iterable[Project]) -> Iterator[_Written]:
    found: dict[Position, tuple[Place, Place, object]] = {}
    for scope, written in (entry for project in projects for entry in _annotated(project)):
        if ANNOTATION in written:
            at = scope.child("metadata", "annotations", ANNOTATION)
            # Values may give the same annotation to several objects.
            found.setdefault(at.document.locate(at), (scope, at, written[ANNOTATION]))
    for scope, at, words in found.values():
        entries = _entries(str(words))
        for name, reason in entries:
            yield name, reason, at, _inside(scope), (Remove(at),) if len(entries) == 1 else ()


def _annotated(project: Project) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yields objects and pod templates, with their annotations."""
    for resource in project.resources:
        yield resource.at, mapping(resource.tree, "metadata", "annotations")
    for run in project.runs:
        for role in run.roles:
            yield role.pod.template_at, role.pod.annotations


def _on_line(name: str, line: int) -> Callable[[Finding], bool]:
    def covers(finding: Finding) -> bool:
        position = finding.position
        return position.source.name == name and position.line <= line <= max(position.line, position.end_line)

    return covers


def _inside(scope: Place) -> Callable[[Finding], bool]:
    files = scope.document.values_files
    if files:
        # All values of a release are about the same run.
        names = {document.source.name for document in (*files, scope.document)}
        return lambda finding: finding.position.source.name in names
    source, first, last = scope.document.extent(scope)
    return lambda finding: finding.position.source.name == source.name and first <= finding.position.line <= last


def _in_files(allowance: Allowance) -> Callable[[Finding], bool]:
    return lambda finding: allowance.covers(finding.position.source.name)
