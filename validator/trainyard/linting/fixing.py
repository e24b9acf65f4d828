"""Applies the fixes of findings, and only those that reduce the findings.

A round applies as many compatible fixes as possible and lints the result. Fixes that cannot be made, cause a new
finding or leave their own are found by bisection and left out. Rounds follow until nothing changes, or until the limit
of lints is reached.
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

# Number of lints, fewer for more text. A lint takes about a second per mebibyte.
MAX_LINTS = 256
MIN_LINTS = 32
_CHARACTERS = 32 * 2**20

# The rule and the file of a finding.
_Key = tuple[str, str]
Lint = Callable[[tuple[File, ...], "Engine"], "Report"]


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
    most_lints: int | None = None,
) -> Fixed:
    """Applies every possible fix in memory; writes nothing. `lint` judges files that belong to charts, for example.

    `most_lints` limits the number of lints; by default, the limit follows from the length of the text.
    """
    before = after = tuple(files)
    judge: Lint = lint or (lambda files, engine: _lint(files, engine, allowances))
    linter = _Linter(judge, engine.for_fixes(), most_lints or _most_lints(before))
    corrected: list[Finding] = []
    untried = 0
    for _ in range(MAX_ROUNDS):
        attempt = _Round(after, linter)
        made = attempt.make(attempt.fixable(unsafe=unsafe), [])
        untried = attempt.untried
        if not made:
            break
        corrected += made
        after = attempt.files_after(made) or after
        if untried:
            break
    left = judge(after, engine)
    if untried:
        note = f"the limit of {linter.most} lints was reached, and {untried} fixes were not tried"
        left = left._replace(notes=(*left.notes, f"{note}; run `trainyard fix` again with fewer files or rules"))
    return Fixed(before, after, tuple(corrected), left)


def fix_one(files: Iterable[File], engine: Engine, finding: Finding, lint: Lint) -> tuple[File, ...] | None:
    """Returns the files with one finding corrected; None if it has no safe fix, or one that causes another finding."""
    attempt = _Round(tuple(files), _Linter(lint, engine.for_fixes(), 2))
    same = [one for one in attempt.fixable(unsafe=False) if is_same(one, finding)]
    made = attempt.make(same[:1], [])
    return attempt.files_after(made) if made else None


def is_same(one: Finding, other: Finding) -> bool:
    """True if two lints of the same text found the same."""
    return (one.order, one.message) == (other.order, other.message)


def _most_lints(files: Iterable[File]) -> int:
    length = sum(len(file.source.text) for file in files)
    return max(MIN_LINTS, min(MAX_LINTS, _CHARACTERS // max(length, 1)))


class _Linter:
    """Lints files, and counts the lints."""

    def __init__(self, lint: Lint, engine: Engine, most: int) -> None:
        self._lint, self._engine = lint, engine
        self._done = 0
        self.most = most

    @property
    def is_spent(self) -> bool:
        """True if the limit is reached."""
        return self._done >= self.most

    def lint(self, files: tuple[File, ...]) -> Report:
        """Lints files, with all findings of each rule."""
        self._done += 1
        return self._lint(files, self._engine)


class _Round:
    """One round over the files in their current state. `untried` is the number of fixes beyond the limit of lints."""

    def __init__(self, files: tuple[File, ...], linter: _Linter) -> None:
        self._files = files
        self._linter = linter
        self._report = linter.lint(files)
        self._sources = {id(file.source) for file in files}
        self.untried = 0

    def fixable(self, *, unsafe: bool) -> list[Finding]:
        """Returns the findings in the files that have a fix of the wanted safety."""
        wanted = ("safe", "unsafe") if unsafe else ("safe",)
        return [
            finding for finding in self._report.findings if finding.fix in wanted and self._edits([finding]) is not None
        ]

    def make(self, findings: list[Finding], beside: list[Finding]) -> list[Finding]:
        """Returns those of the findings whose fixes can be made together with those of `beside`."""
        if not findings:
            return beside
        if self._linter.is_spent:
            self.untried += len(findings)
            return beside
        together = [*beside, *findings]
        worse = self._worse(together)
        if worse is not None and not worse:
            return together
        if len(findings) == 1:
            return beside
        first, second = _parts(findings, worse or set())
        return self.make(second, self.make(first, beside))

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
                file = file._replace(source=Source(file.source.name, draft.text, file.folder))
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

    def _worse(self, findings: list[Finding]) -> set[_Key] | None:
        """Returns the rules and files with more findings than expected after the fixes, None if they cannot be made."""
        files = self.files_after(findings)
        if files is None:
            return None
        old, new = _counts(self._report.findings), _counts(self._linter.lint(files).findings)
        fixed = _counts(findings)
        return {key for key in (*new, *fixed) if new[key] > old[key] - fixed[key]}


def _parts(findings: list[Finding], worse: set[_Key]) -> tuple[list[Finding], list[Finding]]:
    """Returns the findings in two parts: those whose own rule is worse in their file are tried last, or else a half."""
    others = [finding for finding in findings if _key(finding) not in worse]
    if others and len(others) < len(findings):
        return others, [finding for finding in findings if _key(finding) in worse]
    half = len(findings) // 2
    return findings[:half], findings[half:]


def _lint(files: Iterable[File], engine: Engine, allowances: Sequence[Allowance]) -> Report:
    return pipeline.lint(map(pipeline.read_input, files), engine, allowances)


def _key(finding: Finding) -> _Key:
    return finding.rule.code, finding.position.source.name


def _counts(findings: Iterable[Finding]) -> Counter[_Key]:
    return Counter(map(_key, findings))
