"""Trains a small GPT-2 with the Trainer of Transformers: `train.py FOLDER STEPS`. It downloads nothing."""

from __future__ import annotations

import os
import pydoc_data.topics
import sys

import torch
from torch import Tensor
from torch.utils.data import Dataset
from trainyard_trainer.library import newest_sealed
from trainyard_trainer.library.huggingface import TrainyardCallback
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

LENGTH = 64


class Bytes(Dataset[dict[str, Tensor]]):
    """The text of Python's help, one token for each byte."""

    def __init__(self) -> None:
        text = "\n".join(pydoc_data.topics.topics.values()).encode()
        self._tokens = torch.tensor(bytearray(text), dtype=torch.long)

    def __len__(self) -> int:
        return len(self._tokens) // LENGTH

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        tokens = self._tokens[index * LENGTH : (index + 1) * LENGTH]
        return {"input_ids": tokens, "labels": tokens}


def main(folder: str, steps: int) -> int:
    """Trains to the end, and returns the exit status: 143 after SIGTERM."""
    gpus = torch.cuda.is_available()
    callback = TrainyardCallback()
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=256, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    )
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=8,
            learning_rate=1e-3,
            bf16=gpus,
            use_cpu=not gpus,
            # Without a launcher there is no process group. With one, a torch built with MPI would wait for mpirun.
            ddp_backend="gloo" if "RANK" in os.environ and not gpus else None,
            save_steps=20,
            save_total_limit=3,
            logging_steps=10,
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Bytes(),
        callbacks=[callback],
    )
    trainer.train(resume_from_checkpoint=newest_sealed(folder))
    if trainer.is_world_process_zero() and not callback.exit_status:
        print(f"finished: ranks={trainer.args.world_size} steps={trainer.state.global_step}", flush=True)
    return callback.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
