"""The ranks that write or read a checkpoint together."""

from collections.abc import Callable
from typing import TypeVar, cast

import torch.distributed as dist

from trainer.errors import CheckpointError, TrainerError

T = TypeVar("T")


class Peers:
    """All ranks of `group`, or this process alone where there is none. Every method is a collective.

    A rank that fails tells the others, so that all of them go on or none does, and nobody waits for one that gave up.
    A rank that dies fails the group: what the collective then raises is no CheckpointError.
    """

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self.group = group
        self.rank = dist.get_rank(group) if group else 0
        self.size = dist.get_world_size(group) if group else 1

    def each(self, act: Callable[[], T]) -> list[T]:
        """What `act` returns on each rank, by rank; it travels pickled, so small CPU objects only.

        Raises:
            CheckpointError: `act` failed on a rank. All ranks raise the same, that of the first that failed.
        """
        outcomes = self._gather(self._outcome(act))
        for _, error in outcomes:
            if error is not None:
                raise error
        return [cast(T, value) for value, _ in outcomes]

    def first(self, act: Callable[[], T]) -> T:
        """What `act` returns on rank 0, which alone calls it; all ranks raise what it raises there, as `each` does."""
        return cast(T, self.each(lambda: act() if self.rank == 0 else None)[0])

    def explained(self, rank: int, error: BaseException) -> TrainerError:
        """`error` of `rank` as one that a user can read."""
        if isinstance(error, TrainerError):
            return error
        reason = error.strerror if isinstance(error, OSError) else None
        who = f"rank {rank}: " if self.size > 1 else ""
        return CheckpointError(f"{who}{reason or ' '.join(f'{type(error).__name__}: {error}'.split())}")

    def _outcome(self, act: Callable[[], T]) -> tuple[T | None, TrainerError | None]:
        try:
            return act(), None
        # Whatever it is, the others must not wait for this rank.
        except Exception as error:
            return None, self.explained(self.rank, error)

    def _gather(self, value: T) -> list[T]:
        if self.group is None:
            return [value]
        values: list[T] = [value] * self.size
        dist.all_gather_object(values, value, group=self.group)
        return values
