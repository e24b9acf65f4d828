"""How long collectives may take, which changes once a process has done all of its kinds for the first time."""

from collections.abc import Iterable
from datetime import timedelta

import torch.distributed as dist


def shorten(seconds: float, groups: Iterable[dist.ProcessGroup] = ()) -> None:
    """From now on a collective of the default group, or of `groups`, fails after `seconds`.

    Every rank calls it when all have met after their first step. Before, some compile or connect while others wait, for
    minutes; afterwards nobody who still comes does so late, and waiting longer only costs the run time.
    """
    everyone = dist.group.WORLD
    for group in (*([everyone] if everyone else []), *groups):
        group.set_timeout(timedelta(seconds=seconds))
