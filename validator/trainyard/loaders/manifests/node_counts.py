"""Numbers of nodes and processes as launchers take them."""

from __future__ import annotations

from trainyard.document.lookup import decimal


def bounds(written: str) -> tuple[int, int] | None:
    """Returns `--nnodes` as numbers: `4` or `2:8`."""
    first, colon, last = written.partition(":")
    low = count(first)
    high = count(last) if colon else low
    return (low, high) if low is not None and high is not None else None


def count(written: str | None) -> int | None:
    """Returns a number of nodes or processes; None for `gpu`, a variable and anything else."""
    return decimal(written) if written is not None else None
