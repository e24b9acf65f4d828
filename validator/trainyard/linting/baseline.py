"""Findings that were there before Trainyard came: a file of them, so that only new ones count."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from validator.finding import Finding
from validator.fingerprint import fingerprints, path
from validator.mistake import MistakeError

VERSION = 1


class BaselineError(MistakeError):
    """A file that is no baseline; `args[0]` says why."""


class Stale(NamedTuple):
    """An entry that matches no finding any more."""

    rule: str
    path: str


def write(findings: Iterable[Finding]) -> str:
    """The text of a baseline of these findings."""
    entries = [
        {"fingerprint": mark, "rule": finding.rule.code, "path": path(finding), "message": finding.message}
        for finding, mark in fingerprints(findings)
    ]
    return json.dumps({"version": VERSION, "findings": entries}, indent=2) + "\n"


def read(text: str) -> dict[str, Stale]:
    """What each fingerprint in a baseline stands for."""
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise BaselineError(f"its version is {data['version']}, and not {VERSION}")
        return {entry["fingerprint"]: Stale(entry["rule"], entry["path"]) for entry in data["findings"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BaselineError("it was not written by `trainyard baseline`") from None


def apply(
    known: dict[str, Stale], findings: Iterable[Finding], files: Iterable[str], rules: Iterable[str]
) -> tuple[list[Finding], int, list[Stale]]:
    """The findings that are new, the number of those that are known, and the entries that are stale.

    Only of files and rules that were looked at can it be said that their entries are stale.
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
