"""Trains a small Llama 3 with torchtitan: `train.py FOLDER STEPS`. It downloads nothing."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from torch import distributed
from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.metrics import MetricsProcessor
from torchtitan.components.optimizer import default_adamw
from torchtitan.components.tokenizer import BaseTokenizer
from torchtitan.config import TrainingConfig
from torchtitan.hf_datasets import DatasetConfig, text_datasets
from torchtitan.models.llama3.config_registry import llama3_debugmodel
from torchtitan.tools.logging import init_logger
from torchtitan.trainer import Trainer
from trainyard_trainer.library import SIGTERM_STATUS, StopVote, newest_sealed, seal

SAVE_STEPS = 4


class Bytes(BaseTokenizer):
    """A token for each byte of a text, and two for its start and its end."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseTokenizer.Config):
        """Has no fields: torchtitan builds the class that declares its own `Config`."""

    def __init__(self, config: Config, *, tokenizer_path: str) -> None:  # noqa: ARG002 - as torchtitan calls it
        super().__init__()
        self.bos_id, self.eos_id = 256, 257

    def encode(self, text: str, *, add_bos: bool = False, add_eos: bool = False) -> list[int]:
        """Returns the tokens of a text."""
        return [*[self.bos_id] * add_bos, *text.encode(), *[self.eos_id] * add_eos]

    def decode(self, tokens: list[int]) -> str:
        """Returns the text of tokens."""
        return bytes(token for token in tokens if token < self.bos_id).decode(errors="replace")

    def get_vocab_size(self) -> int:
        """Returns the number of tokens."""
        return 258


class SealedCheckpoints(CheckpointManager):
    """Seals each checkpoint of torchtitan, and resumes from the newest one of which no byte has changed."""

    @dataclass(kw_only=True, slots=True)
    class Config(CheckpointManager.Config):
        """The fields of torchtitan's own checkpoints."""

    def _save(self, curr_step: int, last_step: bool = False) -> bool:
        saved: bool = super()._save(curr_step, last_step)
        if saved:
            distributed.barrier()
            if distributed.get_rank() == 0:
                seal(self._create_checkpoint_id(curr_step))
        return saved

    def _load(self, _: int = -1) -> bool:
        newest = newest_sealed(self.folder, "step-*")
        return newest is not None and bool(super()._load(int(newest.rpartition("-")[2])))


class StoppableTrainer(Trainer):
    """Saves and stops after SIGTERM on any rank."""

    @dataclass(kw_only=True, slots=True)
    class Config(Trainer.Config):
        """The fields of torchtitan's own trainer."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.stopped = False
        self._vote = StopVote()

    def should_continue_training(self) -> bool:
        """Called by all ranks before each step."""
        if super().should_continue_training() and self._vote.agreed():
            self.stopped = True
            if self.step % SAVE_STEPS:
                self.checkpointer.save(self.step, last_step=True)
        return not self.stopped and bool(super().should_continue_training())


def configuration(folder: Path, steps: int) -> Any:
    """Returns the configuration of the run. Replace the model, the tokenizer and the data by your own."""
    sums = [{"text": " ".join(f"{a} and {b} is {a + b}" for a in range(9))} for b in range(500)]
    text_datasets.DATASETS["sums"] = DatasetConfig(
        path="", loader=lambda _: Dataset.from_list(sums), sample_processor=lambda sample: sample["text"]
    )
    debug = llama3_debugmodel()
    return StoppableTrainer.Config(
        model_spec=debug.model_spec,
        loss=debug.loss,
        tokenizer=Bytes.Config(),
        optimizer=default_adamw(lr=8e-4),
        training=TrainingConfig(local_batch_size=2, seq_len=128, steps=steps),
        dataloader=text_datasets.HuggingFaceTextDataLoader.Config(dataset="sums"),
        metrics=MetricsProcessor.Config(log_freq=1),
        # The default is below the working directory, which a pod of the chart cannot write to.
        dump_folder=str(folder.absolute()),
        checkpoint=SealedCheckpoints.Config(
            enable=True, folder=str(folder.absolute()), interval=SAVE_STEPS, last_save_model_only=False
        ),
    )


def main(folder: Path, steps: int) -> int:
    """Trains to the end, and returns the exit status: 143 after SIGTERM."""
    init_logger()
    torch.manual_seed(0)
    trainer = configuration(folder, steps).build()
    trainer.train()
    trainer.close()
    if distributed.get_rank() == 0 and not trainer.stopped:
        print(f"finished: ranks={os.environ['WORLD_SIZE']} steps={trainer.step}", flush=True)
    distributed.destroy_process_group()
    return SIGTERM_STATUS if trainer.stopped else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
