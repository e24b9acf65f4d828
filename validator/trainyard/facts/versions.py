"""Compares a target version with a release."""

from __future__ import annotations


def before(version: tuple[int, ...] | None, release: tuple[int, int]) -> bool:
    """True if the target's version is known and older than this release."""
    return version is not None and version[:2] < release


def since(version: tuple[int, ...] | None, release: tuple[int, int]) -> bool:
    """True if the target's version is known and at least this release."""
    return version is not None and version[:2] >= release
