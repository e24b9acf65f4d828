"""The figures of one epoch and how they are written in the log."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochMetrics:
    """Figures over all ranks.

    `loss` is the mean over all training samples as they were trained on, `test_accuracy` a share in [0, 1] of all test
    samples. `seconds` is rank 0's time for the training steps; evaluation and checkpoint come on top.
    """

    epoch: int
    loss: float
    test_accuracy: float
    seconds: float
    samples_per_second: float

    def line(self, epochs: int) -> str:
        """The line of the log, for a run of `epochs`."""
        return (
            f"epoch={self.epoch}/{epochs} loss={self.loss:.4f} test_accuracy={self.test_accuracy:.4f} "
            f"seconds={self.seconds:.2f} samples_per_second={self.samples_per_second:.0f}"
        )
