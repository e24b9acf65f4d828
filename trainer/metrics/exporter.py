"""What a run tells Prometheus about itself, beside what its client library tells of the process.

Every figure is of the whole run: each node serves the same ones, so that they can be had while any node is there.
"""

import time

from prometheus_client import Counter, Gauge, start_http_server

from trainer.errors import ConfigError
from trainer.metrics.epoch import EpochMetrics

_SAMPLES = Counter("trainer_samples", "Samples trained on since this process started, over all ranks.")
_EPOCHS = Gauge("trainer_epochs", "Epochs that the run is to have.")
_EPOCH = Gauge("trainer_epoch", "Epochs that are done, resumed ones included.")
_LOSS = Gauge("trainer_loss", "Mean loss of the last epoch.")
_TEST_ACCURACY = Gauge("trainer_test_accuracy", "Share of the test samples that the last epoch's model gets right.")
_CHECKPOINT = Gauge(
    "trainer_checkpoint_timestamp_seconds",
    "When the newest checkpoint was published; before the first, when this process began to serve.",
)


def serve(port: int) -> None:
    """Serves the figures on `port` until the process ends.

    Raises:
        ConfigError: The port is taken.
    """
    checkpoint_saved()
    try:
        start_http_server(port)
    except OSError as error:
        raise ConfigError(f"--metrics-port {port} cannot be served ({error.strerror}): write another port") from error


def started(done: int, epochs: int) -> None:
    """Training begins after epoch `done` of `epochs`."""
    _EPOCHS.set(epochs)
    _EPOCH.set(done)


def trained(samples: int) -> None:
    """A step is done; over all ranks it was of so many `samples`."""
    _SAMPLES.inc(samples)


def epoch_done(metrics: EpochMetrics) -> None:
    """An epoch is trained and evaluated."""
    _EPOCH.set(metrics.epoch)
    _LOSS.set(metrics.loss)
    _TEST_ACCURACY.set(metrics.test_accuracy)


def checkpoint_saved() -> None:
    """What was trained until now is safe."""
    _CHECKPOINT.set(time.time())
