"""Reports that ranks exchange between steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import torch
import torch.distributed as dist

from ..errors import TrainerError
from .distributed import World


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """One rank's report on the step that has just ended, or on one batch of an evaluation.

    Attributes:
        loss_sum: Sum of the losses of this rank's samples; 0 if another rank counts them.
        correct: Samples answered correctly; 0 if another rank counts them.
        stop: 1 if this rank received SIGTERM.
        save: 1 if this rank finds that a checkpoint is due.
        failed: 1 if this rank could not read its samples.
        data_seconds: Time spent waiting for data.
        forward_seconds: Time of the forward pass.
        backward_seconds: Time of the backward pass.
        wait_seconds: Part of `backward_seconds` spent waiting for other ranks, if the strategy can tell.
        gpu_peak_bytes: Peak of the GPU memory of tensors; 0 without a GPU.
        gpu_reserved_bytes: GPU memory that PyTorch holds; 0 without a GPU.
    """

    loss_sum: float = 0.0
    correct: float = 0.0
    stop: float = 0.0
    save: float = 0.0
    failed: float = 0.0
    data_seconds: float = 0.0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0
    wait_seconds: float = 0.0
    gpu_peak_bytes: float = 0.0
    gpu_reserved_bytes: float = 0.0


class StepSync:
    """Synchronizes all ranks after every step, so that no rank acts alone on a signal, a clock or a loss."""

    def __init__(self, world: World) -> None:
        self._size = world.size
        # A separate gloo group with CPU tensors: a rank blocked on its GPU would not notice that a peer is gone.
        self.group = world.cpu_group()

    def exchange(self, report: StepReport) -> list[StepReport]:
        """Returns the reports of all ranks, in rank order. Collective."""
        mine = torch.tensor(astuple(report), dtype=torch.float64)
        rows = [torch.empty_like(mine) for _ in range(self._size)]
        dist.all_gather(rows, mine, group=self.group)
        names = [field.name for field in fields(StepReport)]
        return [StepReport(**dict(zip(names, row.tolist(), strict=True))) for row in rows]

    def agree(self, reports: Sequence[StepReport], error: TrainerError | None) -> None:
        """Raises the error of the first rank whose report has `failed`, on every rank. Collective.

        Args:
            reports: The reports of all ranks.
            error: The error of this rank, if there is one.
        """
        failed = [rank for rank, report in enumerate(reports) if report.failed]
        if failed:
            errors: list[TrainerError | None] = [None] * self._size
            dist.all_gather_object(errors, error, group=self.group)
            if first := errors[failed[0]]:
                raise first


def total_loss(reports: Sequence[StepReport]) -> float:
    """Returns the sum of all samples' losses. Summed in rank order, so that all ranks compute identical bits."""
    return sum(report.loss_sum for report in reports)
