"""The scalars of a run by name, for sinks that draw curves."""

from __future__ import annotations

import math

from .base import EpochMetrics, EvaluationMetrics, StepMetrics
from .throughput import Throughput


def step_scalars(metrics: StepMetrics, throughput: Throughput) -> dict[str, float]:
    """Returns the scalars of a step, without unknown ones."""
    peak, reserved = metrics.gpu_memory or (None, None)
    known = {
        "loss/step": metrics.loss,
        "learning_rate": metrics.learning_rate,
        "gradient_norm": metrics.gradient_norm,
        "samples_per_second": throughput.samples_per_second,
        "tokens_per_second": throughput.tokens_per_second,
        "mfu": throughput.mfu,
        "gpu_memory/peak_bytes": peak,
        "gpu_memory/reserved_bytes": reserved,
        "seconds/step": metrics.seconds,
    } | {f"seconds/{part}": seconds for part, seconds in metrics.parts(rank=0).items()}
    return {name: value for name, value in known.items() if value is not None and not math.isnan(value)}


def evaluation_scalars(metrics: EvaluationMetrics) -> dict[str, float]:
    """Returns the scalars of an evaluation."""
    return {"loss/test": metrics.score.loss, "test_accuracy": metrics.score.accuracy}


def epoch_scalars(metrics: EpochMetrics) -> dict[str, float]:
    """Returns the scalars of an epoch."""
    return {"loss/epoch": metrics.loss}
