"""Timeouts of collectives, which are shortened after the first step."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import torch.distributed as dist


def set_collective_timeout(seconds: float, groups: Iterable[dist.ProcessGroup] = ()) -> None:
    """Makes collectives of the default group and of `groups` fail after `seconds`. Every rank calls it.

    Before the end of the first step, some ranks compile or connect for minutes while others wait. Afterwards no healthy
    rank is that late, and a longer timeout only costs time.
    """
    everyone = dist.group.WORLD
    for group in (*([everyone] if everyone else []), *groups):
        group.set_timeout(timedelta(seconds=seconds))
