"""The ranks that write or read a checkpoint together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import torch.distributed as dist

from ..errors import CheckpointError, TrainerError

T = TypeVar("T")


class Peers:
    """All ranks of `group`, or only this process without one. All methods are collectives.

    A rank that fails tells the others. So either all ranks continue or none, and no rank waits for one that gave up.
    The death of a rank fails the group with an error that is not a CheckpointError.

    Args:
        group: The process group.
        on_read: Called after each part of a checkpoint that this rank has read.
    """

    def __init__(self, group: dist.ProcessGroup | None = None, on_read: Callable[[], None] = lambda: None) -> None:
        self.group = group
        self.on_read = on_read
        self.rank = dist.get_rank(group) if group else 0
        self.size = dist.get_world_size(group) if group else 1

    def on_all_ranks(self, act: Callable[[], T]) -> list[T]:
        """Calls `act` on every rank and returns the results by rank. They are pickled: use small CPU objects only.

        Raises:
            CheckpointError: `act` failed on a rank. All ranks raise the error of the first rank that failed.
        """
        outcomes = self._gather(self._outcome(act))
        for _, error in outcomes:
            if error is not None:
                raise error
        return [cast(T, value) for value, _ in outcomes]

    def on_rank_zero(self, act: Callable[[], T]) -> T:
        """Calls `act` on rank 0 only and returns its result on every rank. Raises as `on_all_ranks` does."""
        return cast(T, self.on_all_ranks(lambda: act() if self.rank == 0 else None)[0])

    def explain(self, rank: int, error: BaseException) -> TrainerError:
        """Returns `error` of `rank` as an error that a user can act on."""
        if isinstance(error, TrainerError):
            return error
        reason = error.strerror if isinstance(error, OSError) else None
        who = f"rank {rank}: " if self.size > 1 else ""
        return CheckpointError(f"{who}{reason or ' '.join(f'{type(error).__name__}: {error}'.split())}")

    def _outcome(self, act: Callable[[], T]) -> tuple[T | None, TrainerError | None]:
        try:
            return act(), None
        # After any error, the others must not wait for this rank.
        except Exception as error:
            return None, self.explain(self.rank, error)

    def _gather(self, value: T) -> list[T]:
        if self.group is None:
            return [value]
        values: list[T] = [value] * self.size
        dist.all_gather_object(values, value, group=self.group)
        return values
