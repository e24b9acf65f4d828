"""The baseline: a file of known findings, so that only new ones are reported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from trainyard.document.errors import MistakeError
from trainyard.engine.finding import Finding
from trainyard.linting.fingerprint import fingerprints, path

VERSION = 1


class BaselineError(MistakeError):
    """A file that is not a baseline; `args[0]` gives the reason."""


class Stale(NamedTuple):
    """An entry that matches no finding any more."""

    rule: str
    path: str


def save_baseline(findings: Iterable[Finding]) -> str:
    """Returns the text of a baseline of these findings."""
    entries = [
        {"fingerprint": mark, "rule": finding.rule.code, "path": path(finding), "message": finding.message}
        for finding, mark in fingerprints(findings)
    ]
    return json.dumps({"version": VERSION, "findings": entries}, indent=2) + "\n"


def load_baseline(text: str) -> dict[str, Stale]:
    """Returns the entry of each fingerprint in a baseline."""
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise BaselineError(f"its version is {data['version']}, and not {VERSION}")
        return {entry["fingerprint"]: Stale(entry["rule"], entry["path"]) for entry in data["findings"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BaselineError("it was not written by `trainyard baseline`") from None


def apply_baseline(
    known: dict[str, Stale], findings: Iterable[Finding], files: Iterable[str], rules: Iterable[str]
) -> tuple[list[Finding], int, list[Stale]]:
    """Returns the new findings, the number of known ones, and the stale entries.

    An entry can only be stale if its file and its rule were checked.
    """
    new: list[Finding] = []
    met: set[str] = set()
    for finding, mark in fingerprints(findings):
        if mark in known:
            met.add(mark)
        else:
            new.append(finding)
    looked_at, judged = set(files), set(rules)
    missing = (entry for mark, entry in known.items() if mark not in met)
    return new, len(met), [entry for entry in missing if entry.path in looked_at and entry.rule in judged]
