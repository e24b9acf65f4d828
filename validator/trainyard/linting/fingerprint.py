"""A name for a finding that is stable when lines are added or removed elsewhere in its file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from trainyard.document.source import lines
from trainyard.engine.finding import Finding

# Characters of a line that count. A line of a megabyte may have hundreds of findings.
_LONGEST = 4096


def relative(name: str) -> str:
    """Returns a file name as CI systems write it: relative to the current folder, with forward slashes."""
    return name if name.startswith("<") else os.path.relpath(name).replace(os.sep, "/")


def path(finding: Finding) -> str:
    """Returns the finding's file."""
    return relative(finding.position.source.name)


def fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yields each finding with its fingerprint: of rule, file, the line's words, and its number among equal ones."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        line = lines(finding.position.source)[finding.position.line - 1][:_LONGEST]
        key = (finding.rule.code, path(finding), " ".join(line.split()))
        yield finding, sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
