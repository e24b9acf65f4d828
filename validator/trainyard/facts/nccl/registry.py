"""NCCL's environment variables: every name in its sources and its documentation, with the releases that know it.

Source: src/**/*.cc of the 62 release tags v2.3.5-5 to v2.30.7-1 of NVIDIA/nccl (`first` and `last`: first and last tag
that reads the variable) and docs/userguide/source/env.rst at v2.30.7-1 (`documented`, `section`, `since`, `status`).
For v2.31.2-1 and v2.32.3-1: the names that libnccl.so.2 of the wheels nvidia-nccl-cu13 2.31.2 and 2.32.3 passes to
ncclLoadParam or ncclGetEnv (`python -m tools.gpu.nccl_library`), and the headings of the user guide 2.32, env.html.
"""

from __future__ import annotations

import functools
import itertools
import os
import re

from trainyard.startup import NamedTuple

Version = tuple[int, ...]
NEWEST: Version = (2, 32, 3)


class Variable(NamedTuple):
    """A row of the CSV file; versions are None if neither sources nor documentation name one."""

    name: str
    documented: str
    section: str
    doc_since: str
    status: str
    first_tag: str
    last_tag: str

    @property
    def since(self) -> Version | None:
        """The release in which it was added, according to the documentation."""
        return _version(self.doc_since)

    @property
    def first(self) -> Version | None:
        """The first release that reads it."""
        return _version(self.first_tag)

    @property
    def last(self) -> Version | None:
        """The last release that reads it."""
        return _version(self.last_tag)


@functools.cache
def _version(text: str) -> Version | None:
    numbers = re.findall(r"\d+", text.split("-")[0])
    return tuple(int(number) for number in numbers) or None


@functools.cache
def nccl_variables() -> dict[str, Variable]:
    """Returns all variables by name."""
    path = os.path.join(os.path.dirname(__file__), "variables.csv")
    with open(path, encoding="utf-8", newline="") as lines:
        # No field has a comma or a quote. The `csv` module takes longer to import than a job to lint.
        rows = (line.rstrip("\n").split(",") for line in itertools.islice(lines, 1, None))
        return {row[0]: Variable(*row) for row in rows}
