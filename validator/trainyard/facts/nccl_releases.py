"""Comparison of NCCL releases with the one that a run will meet.

Source of `OLDEST`: the wheel of PyTorch 2.1 asks for nvidia-nccl-cu12 2.18.1; older ones are no longer built.
"""

from __future__ import annotations

from validator.facts.nccl import Version

# The oldest release that runs of today meet: what holds since then holds where the release is unknown.
OLDEST: Version = (2, 18)


def has_reached(target: Version | None, version: Version) -> bool:
    """Whether the release is this one or a later one; `2.20` stands for any of its patches."""
    known = target or OLDEST
    return known >= version[: len(known)]


def is_past(target: Version | None, version: Version) -> bool:
    """Whether the release is surely later than this one."""
    known = target or OLDEST
    return known > version[: len(known)]
