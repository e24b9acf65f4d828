"""Makes the fixes of findings, and only those after which there is less to find.

A round makes as many fixes as go together, and lints what would come of them. Fixes that cannot be made, bring a new
finding or leave their own are found by halving, and left out. Rounds follow until nothing changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validator import linting
from validator.editing import Draft
from validator.editing.origins import home
from validator.files import File
from validator.rule import Edit
from validator.source import Source

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.finding import Finding
    from validator.linting import Report
    from validator.suppression import Allowance

MAX_ROUNDS = 10


class Fixed(NamedTuple):
    """The files before and after, what was corrected in them, and what is left to find."""

    before: tuple[File, ...]
    after: tuple[File, ...]
    corrected: tuple[Finding, ...]
    left: Report

    @property
    def changed(self) -> list[tuple[File, File]]:
        """The files that are not what they were, with what they are now."""
        pairs = zip(self.before, self.after, strict=True)
        return [(old, new) for old, new in pairs if old.source.text != new.source.text]


def fix(files: Iterable[File], engine: Engine, allowances: Sequence[Allowance] = (), *, unsafe: bool = False) -> Fixed:
    """Correct what can be corrected; nothing is written."""
    before = after = tuple(files)
    corrected: list[Finding] = []
    for _ in range(MAX_ROUNDS):
        attempt = _Round(after, engine, allowances)
        made = attempt.make(attempt.fixable(unsafe=unsafe), [])
        if not made:
            break
        corrected += made
        after = attempt.files_after(made) or after
    return Fixed(before, after, tuple(corrected), _lint(after, engine, allowances))


class _Round:
    """One round over the files as they are."""

    def __init__(self, files: tuple[File, ...], engine: Engine, allowances: Sequence[Allowance]) -> None:
        self._files = files
        self._engine = engine
        self._allowances = allowances
        self._report = _lint(files, engine, allowances)
        self._sources = {id(file.source) for file in files}

    def fixable(self, *, unsafe: bool) -> list[Finding]:
        """Findings that have a fix, of the wanted safety, in the files."""
        wanted = ("safe", "unsafe") if unsafe else ("safe",)
        return [
            finding
            for finding in self._report.findings
            if finding.rule.fix in wanted and finding.edits and self._edits([finding]) is not None
        ]

    def make(self, findings: list[Finding], beside: list[Finding]) -> list[Finding]:
        """Those of the findings whose fixes can be made beside some others, and these."""
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
        """The files with the fixes made, None when they cannot all be made."""
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
        """The edits by their files, None when one is not in any of the files."""
        result: dict[int, list[Edit]] = defaultdict(list)
        for edit in (edit for finding in findings for edit in finding.edits):
            source = home(edit).source
            if id(source) not in self._sources:
                return None
            result[id(source)].append(edit)
        return result

    def _is_better(self, findings: list[Finding]) -> bool:
        files = self.files_after(findings)
        if files is None:
            return False
        old, new = _counts(self._report.findings), _counts(_lint(files, self._engine, self._allowances).findings)
        return all(new[key] <= old[key] for key in new) and all(
            new[key] <= old[key] - count for key, count in _counts(findings).items()
        )


def _lint(files: Iterable[File], engine: Engine, allowances: Sequence[Allowance]) -> Report:
    return linting.lint(map(linting.read, files), engine, allowances)


def _counts(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.rule.code, finding.position.source.name) for finding in findings)
