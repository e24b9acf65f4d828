"""The processors that this process may use."""

from __future__ import annotations

import os


def available() -> int:
    """Returns their number: that of the machine on systems without affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
