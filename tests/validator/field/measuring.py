"""Findings in the cases from the field: `trainyard lint` as a user calls it, for each case alone."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.validator.field.reading import Case
from trainyard.engine.finding import Finding
from trainyard.linting.session import start_session


class Result(NamedTuple):
    """The findings in a case: those that name its mistake at a marked line, and all others."""

    case: Case
    right: tuple[Finding, ...]
    others: tuple[Finding, ...]

    @property
    def found(self) -> bool:
        """True if a finding names the mistake."""
        return bool(self.right)


def measure(cases: Iterable[Case]) -> Iterator[Result]:
    """Lints each case as a project of its own, with the default options."""
    with tempfile.TemporaryDirectory() as name:
        for number, case in enumerate(cases):
            folder = Path(name) / str(number)
            _write(case, folder)
            with contextlib.chdir(folder):
                findings = start_session(tuple(_top(case))).lint().findings
            right = tuple(finding for finding in findings if _names(finding, case))
            yield Result(case, right, tuple(finding for finding in findings if finding not in right))


def recall(results: Iterable[Result]) -> tuple[int, int]:
    """Returns the numbers of found and of all mistakes that are not out of reach."""
    counted = [result.found for result in results if not result.case.out_of_reach]
    return sum(counted), len(counted)


def _write(case: Case, folder: Path) -> None:
    for name, text in case.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _top(case: Case) -> list[str]:
    """Returns the file of a case of one file, as a user names it, or the folder."""
    return list(case.files) if len(case.files) == 1 else ["."]


def _names(finding: Finding, case: Case) -> bool:
    place = (Path(os.path.normpath(finding.position.source.name)).as_posix(), finding.position.line)
    return place in case.places and case.words.search(f"{finding.message} {finding.help}") is not None
