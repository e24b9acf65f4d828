"""A name for a finding that stays the same when lines are added or removed elsewhere in its file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from validator.finding import Finding
from validator.text import lines


def relative(name: str) -> str:
    """A file as CI systems name it: from the current folder, with forward slashes."""
    return name if name.startswith("<") else os.path.relpath(name).replace(os.sep, "/")


def path(finding: Finding) -> str:
    """The finding's file."""
    return relative(finding.position.source.name)


def fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Each finding with its fingerprint: of its rule, its file, the words of its line, and its number among equals."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        line = lines(finding.position.source)[finding.position.line - 1]
        key = (finding.rule.code, path(finding), " ".join(line.split()))
        yield finding, sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
