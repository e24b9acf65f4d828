"""The Prometheus exporter of a run, in addition to the client library's metrics of the process.

All metrics are of the whole run, so that they are available while any node is up. Only the seconds are of the rank that
serves them.
"""

from __future__ import annotations

import math
import time
from functools import cache

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics, start_http_server

from ..checkpoint.metrics import CheckpointMetrics
from ..errors import ConfigError
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .productive import ProductiveTime
from .straggler import Stragglers
from .throughput import Throughput

# Omits the _created series, the creation times of the others, which are not needed here.
disable_created_metrics()  # type: ignore[no-untyped-call]

# With thousands of ranks these are thousands of series, and scrapes are less frequent anyway.
_SCORES_EVERY_SECONDS = 1.0

_SAMPLES = Counter("trainer_samples", "Samples trained on since this process started, over all ranks.")
_STEPS = Gauge("trainer_steps", "Total steps of the run.")
_STEP = Gauge("trainer_step", "Steps done, including those before a resume.")
_STEP_LOSS = Gauge("trainer_step_loss", "Mean loss of the last step.")
_STEP_SECONDS = Histogram(
    "trainer_step_seconds",
    "Time from the end of one step to the end of the next, on the rank that serves this metric.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300),
)
_PART_SECONDS = Counter(
    "trainer_part_seconds",
    "Seconds that steps spent in data, forward, backward, communication, update or checkpoint, on the rank that serves "
    "this metric. Communication that overlaps with backward counts as backward.",
    ["part"],
)
_SAMPLES_PER_SECOND = Gauge("trainer_samples_per_second", "Samples per second over all ranks and the last steps.")
_STRAGGLER_SCORE = Gauge(
    "trainer_straggler_score",
    "The fastest rank's own time over the last steps, without waiting, divided by that of this rank. 0.5 is twice as "
    "slow.",
    ["rank"],
)
_EPOCHS = Gauge("trainer_epochs", "Total epochs of the run.")
_EPOCH = Gauge("trainer_epoch", "Epochs done, including those before a resume.")
_LOSS = Gauge("trainer_loss", "Mean loss of the last epoch.")
_CHECKPOINT = Gauge(
    "trainer_checkpoint_timestamp_seconds",
    "Time at which the newest checkpoint was published; before the first, the start of this process.",
)
_SAVES = Counter("trainer_saves", "Checkpoint saves of this process by result: saved or failed.", ["result"])
_SAVE_SECONDS = Counter("trainer_save_seconds", "Time from the start of each save until it was durable or had failed.")
_EMERGENCY_SAVES = Gauge(
    "trainer_emergency_saves", "Checkpoints saved because of SIGTERM, counted when the run resumes from them."
)


def serve_metrics(port: int) -> None:
    """Serves the metrics on `port` until the process ends.

    Raises:
        ConfigError: The port is in use.
    """
    _CHECKPOINT.set(time.time())
    for result in ("saved", "failed"):
        _SAVES.labels(result)
    try:
        start_http_server(port)
    except OSError as error:
        raise ConfigError(f"cannot serve --metrics-port {port} ({error.strerror}): write another port") from error


class Exporter(Sink):
    """Updates the metrics of rank `rank`. Without a `productive` time, its metrics are missing."""

    def __init__(
        self,
        rank: int,
        throughput: Throughput,
        stragglers: Stragglers,
        saves: CheckpointMetrics,
        productive: ProductiveTime | None = None,
    ) -> None:
        self._rank = rank
        self._throughput = throughput
        self._stragglers = stragglers
        self._saves = saves
        self._productive = productive
        self._counted: dict[Counter, float] = {}
        self._scored_at = -math.inf
        if throughput.peak_flops:
            _peak().set(throughput.peak_flops)

    def on_start(self, start: RunStart) -> None:
        """Sets the current and the total number of steps and epochs."""
        _STEPS.set(start.steps)
        _STEP.set(start.train_state.step)
        _EPOCHS.set(start.epochs)
        _EPOCH.set(start.train_state.epoch)
        _EMERGENCY_SAVES.set(start.train_state.emergency_saves)

    def on_step(self, metrics: StepMetrics) -> None:
        """Updates the metrics of steps."""
        _SAMPLES.inc(metrics.samples)
        _STEP.set(metrics.train_state.step)
        _STEP_LOSS.set(metrics.loss)
        _STEP_SECONDS.observe(metrics.seconds)
        for part, seconds in metrics.parts(self._rank).items():
            _PART_SECONDS.labels(part).inc(seconds)
        if rate := self._throughput.samples_per_second:
            _SAMPLES_PER_SECOND.set(rate)
        if self._throughput.tokens_per_sample:
            _tokens().inc(metrics.samples * self._throughput.tokens_per_sample)
        if rate := self._throughput.tokens_per_second:
            _tokens_per_second().set(rate)
        if mfu := self._throughput.mfu:
            _mfu().set(mfu)
        if metrics.gpu_memory:
            for gauge, size in zip(_gpu_memory(), metrics.gpu_memory, strict=True):
                gauge.set(size)
        if self._productive and self._productive.first_start is not None:
            spent, began = _productive()
            spent.set(self._productive.seconds)
            began.set(self._productive.first_start)
        self._score()
        self._count_saves()

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Updates the metrics of evaluations."""
        _test_loss().set(metrics.score.loss)
        _test_accuracy().set(metrics.score.accuracy)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Updates the metrics of epochs."""
        _EPOCH.set(metrics.epoch)
        _LOSS.set(metrics.loss)
        self._count_saves()

    def close(self) -> None:
        """Counts the last saves."""
        self._count_saves()

    def _score(self) -> None:
        if (now := time.monotonic()) - self._scored_at >= _SCORES_EVERY_SECONDS:
            self._scored_at = now
            for rank, score in enumerate(self._stragglers.scores()):
                _STRAGGLER_SCORE.labels(rank).set(score)

    def _count_saves(self) -> None:
        if self._saves.newest_time is not None:
            _CHECKPOINT.set(self._saves.newest_time)
        self._count_up(_SAVES.labels("saved"), self._saves.saved)
        self._count_up(_SAVES.labels("failed"), self._saves.failed)
        self._count_up(_SAVE_SECONDS, self._saves.save_seconds)

    def _count_up(self, counter: Counter, total: float) -> None:
        counter.inc(total - self._counted.get(counter, 0.0))
        self._counted[counter] = total


# Created only when there is a value: a series of zeros would be misleading.
@cache
def _tokens() -> Counter:
    return Counter("trainer_tokens", "Tokens trained on since this process started, over all ranks.")


@cache
def _tokens_per_second() -> Gauge:
    return Gauge("trainer_tokens_per_second", "Tokens per second over all ranks and the last steps.")


@cache
def _test_loss() -> Gauge:
    return Gauge("trainer_test_loss", "Mean loss of the test samples in the last evaluation.")


@cache
def _test_accuracy() -> Gauge:
    return Gauge("trainer_test_accuracy", "Share of test samples answered correctly in the last evaluation.")


@cache
def _mfu() -> Gauge:
    return Gauge("trainer_mfu", "The model's own operations as a share of trainer_peak_flops, over the last steps.")


@cache
def _gpu_memory() -> tuple[Gauge, Gauge]:
    return (
        Gauge("trainer_gpu_peak_bytes", "Peak of the memory of tensors since the start, on the GPU with most."),
        Gauge("trainer_gpu_reserved_bytes", "Memory that PyTorch holds for tensors, on the GPU with most."),
    )


@cache
def _productive() -> tuple[Gauge, Gauge]:
    return (
        Gauge("trainer_productive_seconds", "Time in steps that the run kept, without saves and evaluations."),
        Gauge("trainer_first_start_timestamp_seconds", "Time at which the run first trained, before all resumes."),
    )


@cache
def _peak() -> Gauge:
    return Gauge("trainer_peak_flops", "Peak operations per second of the devices of all ranks.")
