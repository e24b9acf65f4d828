"""Compares NCCL releases with the one that a run will use.

Source of `OLDEST`: PyTorch 1.10 to 1.12 contain NCCL 2.10.3, and older ones do not know the GPUs of today.
"""

from __future__ import annotations

from trainyard.facts.nccl.registry import Version

# The oldest release in use. A fact that holds since then holds where the release is unknown.
OLDEST: Version = (2, 10)


def has_reached(target: Version | None, version: Version) -> bool:
    """True if the target is this release or a later one; `2.20` stands for any of its patches."""
    known = target or OLDEST
    return known >= version[: len(known)]


def is_past(target: Version | None, version: Version) -> bool:
    """True if the target is certainly later than this release."""
    known = target or OLDEST
    return known > version[: len(known)]
