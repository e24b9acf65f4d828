"""Compares the version of a component with a release. An unknown version is neither before a release nor since it.

The first number below zero marks a version before its release: 2.6.0a0 is since 2.5, and neither before nor since 2.6.
"""

from __future__ import annotations


def before(version: tuple[int, ...] | None, release: tuple[int, ...]) -> bool:
    """True if the version is known and older than this release; `2.26` is not older than 2.26.3."""
    return version is not None and version[: len(release)] < release[: len(version)]


def since(version: tuple[int, ...] | None, release: tuple[int, ...]) -> bool:
    """True if the version is known and at least this release; `2.26` is at least 2.26.3, as its newest patch is."""
    if version is None:
        return False
    if version[-1] < 0:
        return version[:-1] > release[: len(version) - 1]
    return version[: len(release)] >= release[: len(version)]
