"""Trains a small model with Lightning: `train.py FOLDER EPOCHS`. It downloads nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import lightning
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset
from trainyard_trainer.library import SIGTERM_STATUS, StopVote, newest_sealed, seal

SAMPLES, FEATURES, SAVE_STEPS = 2048, 64, 16


class Regression(lightning.LightningModule):
    """A perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, 256), nn.GELU(), nn.Linear(256, 1))

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        """Returns the loss of a batch."""
        inputs, targets = batch
        return nn.functional.mse_loss(self.layers(inputs), targets)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Returns AdamW."""
        return torch.optim.AdamW(self.parameters(), lr=0.003)


class SealedCheckpoints(lightning.Callback):
    """Saves every few steps and after SIGTERM on any rank, and seals each checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.stopped = False
        self._folder = folder

    def on_train_start(self, *_: Any) -> None:
        """Records SIGTERM from now on, instead of Lightning."""
        self._stop = StopVote()

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        """Saves when all ranks have agreed to stop, or when a checkpoint is due."""
        self.stopped = self._stop.agreed()
        if self.stopped or trainer.global_step % SAVE_STEPS == 0:
            path = self._folder / f"checkpoint-{trainer.global_step}"
            trainer.save_checkpoint(path / "lightning.ckpt")
            if trainer.is_global_zero:
                seal(path)
        trainer.should_stop = self.stopped

    def on_train_end(self, *_: Any) -> None:
        """Lets SIGTERM end the process at once again."""
        self._stop.release()


def main(folder: Path, epochs: int) -> int:
    """Trains to the end, and returns the exit status: 143 after SIGTERM."""
    torch.manual_seed(0)
    inputs = torch.randn(SAMPLES, FEATURES)
    data = TensorDataset(inputs, inputs.square().sum(dim=1, keepdim=True) / FEATURES)
    callback = SealedCheckpoints(folder)
    trainer = lightning.Trainer(
        accelerator="auto",
        devices=int(os.environ["LOCAL_WORLD_SIZE"]),
        num_nodes=int(os.environ["GROUP_WORLD_SIZE"]),
        strategy="ddp",
        max_epochs=epochs,
        callbacks=[callback],
        enable_checkpointing=False,
        enable_progress_bar=False,
        logger=False,
    )
    newest = newest_sealed(folder)
    model = Regression()
    trainer.fit(model, DataLoader(data, batch_size=32), ckpt_path=newest and f"{newest}/lightning.ckpt")
    if trainer.is_global_zero and not callback.stopped:
        print(f"finished: ranks={trainer.world_size} steps={trainer.global_step}", flush=True)
    return SIGTERM_STATUS if callback.stopped else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
