"""The callback for the Trainer of Transformers, in one process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import Trainer, TrainingArguments

from trainer.library.huggingface import TrainyardCallback

TIMEOUT_SECONDS = 600.0  # the default of the watchdog


class Model(nn.Module):
    """A perceptron that has memory for batches of a few samples."""

    def __init__(self, memory: int) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self._memory = memory

    def forward(self, inputs: Tensor) -> dict[str, Tensor]:
        """Returns the loss."""
        if len(inputs) > self._memory:
            raise RuntimeError("CUDA out of memory.")
        return {"loss": self.layer(inputs).square().mean()}


class Watched(Trainer):  # type: ignore[misc]
    """Notes the limits of the watchdog."""

    def __init__(self, folder: Path, *, memory: int = 8, **arguments: Any) -> None:
        self.callback = TrainyardCallback(hang_seconds=10)
        self.limits: list[float] = []
        self.step_limits: list[float] = []
        super().__init__(
            model=Model(memory),
            args=TrainingArguments(
                output_dir=str(folder),
                max_steps=4,
                per_device_train_batch_size=8,
                use_cpu=True,
                report_to="none",
                disable_tqdm=True,
                **arguments,
            ),
            train_dataset=[{"inputs": torch.ones(1)}] * 16,
            callbacks=[self.callback],
        )

    def training_step(self, *arguments: Any) -> Tensor:
        """Notes the limit of a step, too."""
        self.step_limits.append(self.callback._watchdog._limit)
        loss: Tensor = super().training_step(*arguments)
        return loss

    def _save_checkpoint(self, *arguments: Any) -> None:
        self.limits.append(self.callback._watchdog._limit)
        super()._save_checkpoint(*arguments)


@pytest.fixture
def _signals() -> Iterator[None]:
    """Restores the handler of SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
    signal.set_wakeup_fd(-1)


def watchdogs() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "watchdog"]


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize("strategy", ["steps", "epoch"])
def test_a_save_may_take_as_long_as_the_first_step(tmp_path: Path, strategy: str) -> None:
    training = Watched(tmp_path, save_strategy=strategy, save_steps=2)
    training.train()
    assert training.limits == [TIMEOUT_SECONDS, TIMEOUT_SECONDS]
    assert sorted(path.parent.name for path in tmp_path.glob("*/manifest.json")) == ["checkpoint-2", "checkpoint-4"]
    assert watchdogs() == []


@pytest.mark.usefixtures("_signals")
def test_a_step_after_a_save_has_the_limit_of_a_step(tmp_path: Path) -> None:
    training = Watched(tmp_path, save_strategy="steps", save_steps=2)
    training.train()
    assert training.step_limits == [TIMEOUT_SECONDS, 10.0, 10.0, 10.0]


@pytest.mark.usefixtures("_signals")
def test_training_that_begins_again_with_smaller_batches_leaves_no_watchdog(tmp_path: Path) -> None:
    """The watchdog of the first attempt would end the run, because it has no more steps."""
    training = Watched(tmp_path, memory=4, save_strategy="no", auto_find_batch_size=True)
    training.train()
    assert training.state.global_step == 4
    assert training.state.train_batch_size <= 4
    assert watchdogs() == []
