"""Compares NCCL releases with the one that a run will use.

Source of `OLDEST`: the wheel of PyTorch 2.1 requires nvidia-nccl-cu12 2.18.1; older ones are no longer built.
"""

from __future__ import annotations

from trainyard.facts.nccl import Version

# The oldest release in use today. A fact that holds since then holds where the release is unknown.
OLDEST: Version = (2, 18)


def has_reached(target: Version | None, version: Version) -> bool:
    """True if the target is this release or a later one; `2.20` stands for any of its patches."""
    known = target or OLDEST
    return known >= version[: len(known)]


def is_past(target: Version | None, version: Version) -> bool:
    """True if the target is certainly later than this release."""
    known = target or OLDEST
    return known > version[: len(known)]
