"""NCCL's environment variables: every name in its sources and its documentation, with the releases that know it.

Source: src/**/*.cc of the 62 release tags v2.3.5-5 to v2.30.7-1 of NVIDIA/nccl (`first` and `last`: first and last tag
that reads the variable) and docs/userguide/source/env.rst at v2.30.7-1 (`documented`, `section`, `since`, `status`).
"""

from __future__ import annotations

import csv
import functools
import os
import re
from typing import NamedTuple

Version = tuple[int, ...]
NEWEST: Version = (2, 30, 7)


class Variable(NamedTuple):
    """One variable; versions are None where the sources or the documentation do not name one."""

    name: str
    documented: bool
    section: str
    since: Version | None
    status: str
    first: Version | None
    last: Version | None


def _version(text: str) -> Version | None:
    numbers = re.findall(r"\d+", text.split("-")[0])
    return tuple(int(number) for number in numbers) or None


@functools.cache
def variables() -> dict[str, Variable]:
    """All variables by name."""
    path = os.path.join(os.path.dirname(__file__), "nccl_variables.csv")  # noqa: PTH118, PTH120
    with open(path, encoding="utf-8", newline="") as lines:  # noqa: PTH123
        return {
            row["name"]: Variable(
                name=row["name"],
                documented=row["documented"] == "yes",
                section=row["section"],
                since=_version(row["doc_since"]),
                status=row["doc_status"],
                first=_version(row["first_source_tag"]),
                last=_version(row["last_source_tag"]),
            )
            for row in csv.DictReader(lines)
        }
