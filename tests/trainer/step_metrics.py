"""Synthetic metrics of steps."""

from __future__ import annotations

from collections.abc import Sequence

from trainer.metrics.base import RunStart, StepMetrics
from trainer.metrics.throughput import Throughput
from trainer.runtime.step_sync import StepReport
from trainer.train_state import TrainState

STEPS = 200
SAMPLES = 32


def run_start(step: int = 0, **fields: int) -> RunStart:
    """Returns the start of a run of two epochs and `STEPS` steps, at `step`."""
    return RunStart(train_state=TrainState(step=step, **fields), epochs=2, steps=STEPS, world_size=2)


GPU_REPORTS = (
    StepReport(gpu_peak_bytes=float(1 << 30), gpu_reserved_bytes=float(4 << 30)),
    StepReport(gpu_peak_bytes=float(3 << 30), gpu_reserved_bytes=float(3 << 30)),
)


def step_metrics(
    step: int, *, loss: float = 0.5, seconds: float = 0.25, reports: Sequence[StepReport] = ()
) -> StepMetrics:
    """Returns the metrics of a step in which every part took some of `seconds`."""
    return StepMetrics(
        train_state=TrainState(step=step, position=SAMPLES * step),
        samples=SAMPLES,
        loss=loss,
        learning_rate=0.001,
        gradient_norm=float("nan"),
        seconds=seconds,
        update_seconds=0.03,
        exchange_seconds=0.02,
        checkpoint_seconds=0.01,
        reports=reports or [StepReport(data_seconds=0.04, forward_seconds=0.05, backward_seconds=0.1)],
    )


def new_throughput(*, tokens_per_sample: int = 0, peak_flops: float | None = None) -> Throughput:
    """Returns the throughput of a new run, of a model that needs a million operations per sample."""
    return Throughput(tokens_per_sample=tokens_per_sample, flops_per_sample=1e6, peak_flops=peak_flops)
