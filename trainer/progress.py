"""How far a run is."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """The same on all ranks at every step boundary, and in every checkpoint.

    `position` counts the samples trained on since the run began, over all ranks; `epoch` is the last one that is done.
    `loss_sum` adds up the losses of the samples of the epoch that is under way, `loss` and `test_accuracy` are the
    figures of the last epoch that is done, None before. `emergency_saves` counts the checkpoints that were saved
    because the run was told to stop: only here are they seen, as the process that saves them is gone right after.
    """

    step: int = 0
    position: int = 0
    epoch: int = 0
    loss_sum: float = 0.0
    loss: float | None = None
    test_accuracy: float | None = None
    emergency_saves: int = 0
