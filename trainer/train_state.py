"""The progress of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainState:
    """The progress of a run: identical on all ranks at every step boundary, and saved in every checkpoint.

    Attributes:
        step: Steps done.
        position: Samples trained on since the run began, over all ranks.
        epoch: Epochs done.
        loss_sum: Sum of the losses of all samples so far in the current epoch.
        loss: Mean loss of the last finished epoch; None before.
        test_accuracy: Test accuracy in the last evaluation; None before.
        emergency_saves: Checkpoints saved because of SIGTERM. Counted here, since the process that saves one exits at
            once.
    """

    step: int = 0
    position: int = 0
    epoch: int = 0
    loss_sum: float = 0.0
    loss: float | None = None
    test_accuracy: float | None = None
    emergency_saves: int = 0
