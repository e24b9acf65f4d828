"""Applies the fixes of findings, and only those that reduce the findings.

A round applies as many compatible fixes as possible and lints the result. Fixes that cannot be made, cause a new
finding or leave their own are found by bisection and left out. Rounds follow until nothing changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document.document import Edit
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.editing import Draft
from trainyard.editing.targets import edited_document
from trainyard.linting import pipeline

if TYPE_CHECKING:
    from trainyard.engine.engine import Engine
    from trainyard.engine.finding import Finding
    from trainyard.linting.report import Report
    from trainyard.linting.suppression import Allowance

MAX_ROUNDS = 10

Lint = Callable[[tuple[File, ...]], "Report"]


class Fixed(NamedTuple):
    """The files before and after, the corrected findings, and the remaining ones."""

    before: tuple[File, ...]
    after: tuple[File, ...]
    corrected: tuple[Finding, ...]
    left: Report

    @property
    def changed(self) -> list[tuple[File, File]]:
        """Returns the changed files, before and after."""
        pairs = zip(self.before, self.after, strict=True)
        return [(old, new) for old, new in pairs if old.source.text != new.source.text]


def fix(
    files: Iterable[File],
    engine: Engine,
    allowances: Sequence[Allowance] = (),
    *,
    unsafe: bool = False,
    lint: Lint | None = None,
) -> Fixed:
    """Applies every possible fix in memory; writes nothing. `lint` judges files that belong to charts, for example."""
    before = after = tuple(files)
    judge: Lint = lint or (lambda files: _lint(files, engine, allowances))
    corrected: list[Finding] = []
    for _ in range(MAX_ROUNDS):
        attempt = _Round(after, judge)
        made = attempt.make(attempt.fixable(unsafe=unsafe), [])
        if not made:
            break
        corrected += made
        after = attempt.files_after(made) or after
    return Fixed(before, after, tuple(corrected), judge(after))


class _Round:
    """One round over the files in their current state."""

    def __init__(self, files: tuple[File, ...], lint: Lint) -> None:
        self._files = files
        self._lint = lint
        self._report = lint(files)
        self._sources = {id(file.source) for file in files}

    def fixable(self, *, unsafe: bool) -> list[Finding]:
        """Returns the findings in the files that have a fix of the wanted safety."""
        wanted = ("safe", "unsafe") if unsafe else ("safe",)
        return [
            finding
            for finding in self._report.findings
            if finding.rule.fix in wanted and finding.edits and self._edits([finding]) is not None
        ]

    def make(self, findings: list[Finding], beside: list[Finding]) -> list[Finding]:
        """Returns those of the findings whose fixes can be made together with those of `beside`."""
        if not findings:
            return beside
        together = [*beside, *findings]
        if self._is_better(together):
            return together
        if len(findings) == 1:
            return beside
        half = len(findings) // 2
        return self.make(findings[half:], self.make(findings[:half], beside))

    def files_after(self, findings: Iterable[Finding]) -> tuple[File, ...] | None:
        """Returns the files with the fixes made, None if they cannot all be made."""
        edits = self._edits(findings)
        if edits is None:
            return None
        result = []
        for file in self._files:
            own = edits.get(id(file.source))
            if own:
                draft = Draft(file.source)
                if not draft.make(own):
                    return None
                file = file._replace(source=Source(file.source.name, draft.text))
            result.append(file)
        return tuple(result)

    def _edits(self, findings: Iterable[Finding]) -> dict[int, list[Edit]] | None:
        """Returns the edits by their files, None if one is not in any of the files."""
        result: dict[int, list[Edit]] = defaultdict(list)
        for edit in (edit for finding in findings for edit in finding.edits):
            source = edited_document(edit).source
            if id(source) not in self._sources:
                return None
            result[id(source)].append(edit)
        return result

    def _is_better(self, findings: list[Finding]) -> bool:
        files = self.files_after(findings)
        if files is None:
            return False
        old, new = _counts(self._report.findings), _counts(self._lint(files).findings)
        return all(new[key] <= old[key] for key in new) and all(
            new[key] <= old[key] - count for key, count in _counts(findings).items()
        )


def _lint(files: Iterable[File], engine: Engine, allowances: Sequence[Allowance]) -> Report:
    return pipeline.lint(map(pipeline.read_input, files), engine, allowances)


def _counts(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.rule.code, finding.position.source.name) for finding in findings)
