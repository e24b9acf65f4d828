"""The ranks' vote to stop after SIGTERM."""

from __future__ import annotations

import torch
import torch.distributed as dist

from ..runtime.signals import Termination
from .group import group_of_all


class StopVote:
    """SIGTERM on any rank stops all ranks after the same step. Create it in the main thread. Collective.

    Kubernetes sends SIGTERM to the pods that it stops, which may be one of many. A rank that saved alone would wait for
    the others without end.

    Args:
        grace_seconds: Seconds from SIGTERM to the exit, with status 143, of a process that has not called `agreed`
            since. Below `terminationGracePeriodSeconds` of the pod, which also limits the save that follows.
    """

    def __init__(self, grace_seconds: float = 25.0) -> None:
        self._group = group_of_all()
        self._termination = Termination()
        self._termination.defer(grace_seconds)

    def agreed(self) -> bool:
        """Returns true on all ranks if any rank has received SIGTERM. Collective: call it after every step."""
        stops = self._vote(self._termination.requested)
        if stops:
            self._termination.save_begins()
        return stops

    def _vote(self, told: bool) -> bool:
        if self._group is None:
            return told
        votes = torch.tensor([float(told)])
        dist.all_reduce(votes, op=dist.ReduceOp.MAX, group=self._group)
        return bool(votes.item())

    def release(self) -> None:
        """Makes SIGTERM end the process at once again."""
        self._termination.release()
