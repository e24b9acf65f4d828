"""What the ranks tell each other between two steps."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import torch
import torch.distributed as dist

from trainer.runtime.distributed import World


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """One rank's view of the step that has just ended, or of a part of an evaluation.

    `loss_sum` is over its samples, `correct` counts those that it had right; 0 where another rank counts them. `stop`
    is 1 when this rank was told to end, `save` when it finds that a checkpoint is due. `wait_seconds` is the part of
    `backward_seconds` in which this rank's own gradients were done, as far as its strategy knows.
    """

    loss_sum: float = 0.0
    correct: float = 0.0
    stop: float = 0.0
    save: float = 0.0
    data_seconds: float = 0.0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0
    wait_seconds: float = 0.0


class Boundary:
    """All ranks meet here after every step, so that none acts on what only it knows: a signal, a clock, a loss."""

    def __init__(self, world: World) -> None:
        self._size = world.size
        # Of its own and on CPU tensors: a rank that waits for a GPU here would not hear of a peer that has gone.
        self.group = world.cpu_group()

    def exchange(self, report: Report) -> list[Report]:
        """The reports of all ranks, by rank. Collective."""
        mine = torch.tensor(astuple(report), dtype=torch.float64)
        rows = [torch.empty_like(mine) for _ in range(self._size)]
        dist.all_gather(rows, mine, group=self.group)
        names = [field.name for field in fields(Report)]
        return [Report(**dict(zip(names, row.tolist(), strict=True))) for row in rows]


def total_loss(reports: Sequence[Report]) -> float:
    """The sum of all samples' losses, added up in the order of the ranks, so that all of them get the same bits."""
    return sum(report.loss_sum for report in reports)
