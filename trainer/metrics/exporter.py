"""What a run tells Prometheus about itself, beside what its client library tells of the process.

Every figure is of the whole run, so that it can be had while any node is there; only the seconds are of the rank that
serves them.
"""

import math
import time
from functools import cache

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics, start_http_server

from trainer.errors import ConfigError
from trainer.metrics.figures import EpochFigures, Saves, Sink, Start, StepFigures
from trainer.metrics.pace import Pace
from trainer.metrics.straggler import Stragglers

# When a series began, for each of them, which nobody asks for here.
disable_created_metrics()  # type: ignore[no-untyped-call]

# A scrape is rarer, and with thousands of ranks these are thousands of series.
_SCORES_EVERY_SECONDS = 1.0

_SAMPLES = Counter("trainer_samples", "Samples trained on since this process started, over all ranks.")
_STEPS = Gauge("trainer_steps", "Steps that the run is to have.")
_STEP = Gauge("trainer_step", "Steps that are done, resumed ones included.")
_STEP_LOSS = Gauge("trainer_step_loss", "Mean loss of the last step.")
_STEP_SECONDS = Histogram(
    "trainer_step_seconds",
    "From the end of one step to the end of the next, on the rank that serves this.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300),
)
_PART_SECONDS = Counter(
    "trainer_part_seconds",
    "Seconds of steps that went into data, forward, backward, communication, update or checkpoint, on the rank that "
    "serves this; what backward hides of the communication is in backward.",
    ["part"],
)
_SAMPLES_PER_SECOND = Gauge("trainer_samples_per_second", "Over all ranks and the last steps.")
_STRAGGLER_SCORE = Gauge(
    "trainer_straggler_score",
    "Of each rank over the last steps: the fastest rank's seconds before it had to wait as a share of its own. "
    "0.5 is twice as slow.",
    ["rank"],
)
_EPOCHS = Gauge("trainer_epochs", "Epochs that the run is to have.")
_EPOCH = Gauge("trainer_epoch", "Epochs that are done, resumed ones included.")
_LOSS = Gauge("trainer_loss", "Mean loss of the last epoch.")
_TEST_ACCURACY = Gauge("trainer_test_accuracy", "Share of the test samples that the last epoch's model gets right.")
_CHECKPOINT = Gauge(
    "trainer_checkpoint_timestamp_seconds",
    "When the newest checkpoint was published; before the first, when this process began to serve.",
)
_SAVES = Counter("trainer_saves", "Checkpoints of this process: saved, or failed.", ["result"])
_SAVE_SECONDS = Counter("trainer_save_seconds", "From the beginning of each save until it was durable or had failed.")
_EMERGENCY_SAVES = Gauge(
    "trainer_emergency_saves", "Checkpoints that the run was resumed from and that were saved because it had to stop."
)


def serve(port: int) -> None:
    """Serves the figures on `port` until the process ends.

    Raises:
        ConfigError: The port is taken.
    """
    _CHECKPOINT.set(time.time())
    for result in ("saved", "failed"):
        _SAVES.labels(result)
    try:
        start_http_server(port)
    except OSError as error:
        raise ConfigError(f"--metrics-port {port} cannot be served ({error.strerror}): write another port") from error


class Exporter(Sink):
    """Keeps the figures up to date, on rank `rank`."""

    def __init__(self, rank: int, pace: Pace, stragglers: Stragglers, saves: Saves) -> None:
        self._rank = rank
        self._pace = pace
        self._stragglers = stragglers
        self._saves = saves
        self._counted: dict[Counter, float] = {}
        self._scored_at = -math.inf
        if pace.peak_flops:
            _peak().set(pace.peak_flops)

    def started(self, start: Start) -> None:
        """Says where the run stands and where it is to end."""
        _STEPS.set(start.steps)
        _STEP.set(start.progress.step)
        _EPOCHS.set(start.epochs)
        _EPOCH.set(start.progress.epoch)
        _EMERGENCY_SAVES.set(start.progress.emergency_saves)

    def stepped(self, figures: StepFigures) -> None:
        """Counts a step."""
        _SAMPLES.inc(figures.samples)
        _STEP.set(figures.progress.step)
        _STEP_LOSS.set(figures.loss)
        _STEP_SECONDS.observe(figures.seconds)
        for part, seconds in figures.parts(self._rank).items():
            _PART_SECONDS.labels(part).inc(seconds)
        if rate := self._pace.samples_per_second:
            _SAMPLES_PER_SECOND.set(rate)
        if self._pace.tokens_per_sample:
            _tokens().inc(figures.samples * self._pace.tokens_per_sample)
        if rate := self._pace.tokens_per_second:
            _tokens_per_second().set(rate)
        if mfu := self._pace.mfu:
            _mfu().set(mfu)
        self._score()
        self._count_saves()

    def epoch_done(self, figures: EpochFigures) -> None:
        """Notes an epoch's figures."""
        _EPOCH.set(figures.epoch)
        _LOSS.set(figures.loss)
        _TEST_ACCURACY.set(figures.test_accuracy)
        self._count_saves()

    def close(self) -> None:
        """Counts what was saved at the end."""
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


# Only made where there is something to say: a series of zeros would be a claim.
@cache
def _tokens() -> Counter:
    return Counter("trainer_tokens", "Tokens trained on since this process started, over all ranks.")


@cache
def _tokens_per_second() -> Gauge:
    return Gauge("trainer_tokens_per_second", "Over all ranks and the last steps.")


@cache
def _mfu() -> Gauge:
    return Gauge("trainer_mfu", "The model's own operations as a share of trainer_peak_flops, over the last steps.")


@cache
def _peak() -> Gauge:
    return Gauge("trainer_peak_flops", "Operations a second that the devices of all ranks could do at most.")
