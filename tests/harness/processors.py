"""The processors of this machine."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """Return the processor time that all programs of the machine have used."""
    # Source: proc_stat(5): user, nice, system, idle, iowait, irq, softirq, and steal.
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS


def idle_share(busy: float, seconds: float) -> float:
    """Return which share of the processors' time nothing used in this many seconds, of which programs used `busy`."""
    # Both clocks are read one after the other, and a tick is 10 ms.
    return max(0.0, 1 - busy / (seconds * (os.cpu_count() or 1)))
