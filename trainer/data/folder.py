"""Samples from files in a folder, such as a volume mounted in every pod.

The folder has the subfolders `train/` and `test/`. Files are read in the order of their names, so that a sample has the
same index on every rank.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from trainer.config import TrainerConfig
from trainer.data.batch import Batch, Data, Indices
from trainer.data.formats import READERS, Shard
from trainer.data.formats.shard import Rows
from trainer.errors import ConfigError

_BRIGHTEST = 255.0


@dataclass(frozen=True, slots=True)
class Folder:
    """The samples of several files, in order."""

    shards: tuple[Shard, ...]
    ends: Indices

    def __len__(self) -> int:
        return int(self.ends[-1])

    def take(self, indices: Indices) -> Batch:
        """Returns the samples at `indices`, in that order."""
        files = np.searchsorted(self.ends, indices, side="right")
        parts = [(files == number, self._rows(number, indices[files == number])) for number in np.unique(files)]
        if not parts:
            parts = [(np.zeros(0, bool), self._rows(0, indices))]
        inputs, targets = (np.empty((len(indices), *rows.shape[1:]), rows.dtype) for rows in parts[0][1])
        for chosen, rows in parts:
            inputs[chosen], targets[chosen] = rows
        return Batch(torch.from_numpy(inputs), torch.from_numpy(targets))

    def _rows(self, number: int, indices: Indices) -> Rows:
        before = self.ends[number - 1] if number else 0
        inputs, targets = self.shards[number].rows(indices - before)
        if targets.ndim > 1:
            return inputs.astype(np.int64), targets.astype(np.int64)
        # Images may also be stored as bytes.
        scale = _BRIGHTEST if inputs.dtype == np.uint8 else 1.0
        return inputs.astype(np.float32) / np.float32(scale), targets.astype(np.int64)


def load_folder(config: TrainerConfig) -> Data:
    """Loads the samples in `train` and `test` of `config.data_dir`.

    Raises:
        ConfigError: A folder or file is missing or unreadable, or does not suit the model.
    """
    training, test = (_load(config.data_dir / part) for part in ("train", "test"))
    sample = training.take(np.zeros(1, np.int64))
    tokens = sample.targets.dim() > 1
    if tokens != (config.model == "gpt"):
        kind, models = ("tokens", "gpt") if tokens else ("inputs with one target each", "mlp or cnn")
        raise ConfigError(f"{config.data_dir} has {kind}, and the model is {config.model}: write --model {models}")
    if tokens and sample.inputs.shape[1] != config.context_length:
        raise ConfigError(
            f"{config.data_dir} has rows of {sample.inputs.shape[1] + 1} tokens: write --context-length "
            f"{sample.inputs.shape[1]}, one less"
        )
    return Data(
        training=training,
        test=test,
        shape=tuple(sample.inputs.shape[1:]),
        classes=config.classes,
        fingerprint=_fingerprint(config.data_dir),
    )


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in READERS)
    except OSError as error:
        advice = "write --data-dir with a folder that has train/ and test/"
        raise ConfigError(f"cannot list {folder}: {error.strerror}: {advice}") from error


def _load(folder: Path) -> Folder:
    files = _files(folder)
    if not files:
        raise ConfigError(f"{folder} has no samples: put {', '.join(sorted(READERS))} files there")
    shards = tuple(map(_read, files))
    return Folder(shards, np.cumsum([len(shard) for shard in shards]))


def _read(path: Path) -> Shard:
    try:
        return READERS[path.suffix](path)
    except ConfigError:
        raise
    except Exception as error:  # each format's library has its own error types
        raise ConfigError(f"cannot read {path}: {error}: write it again, or remove it") from error


def _fingerprint(folder: Path) -> str:
    """Hashes names and sizes only: reading terabytes would delay the start of every run."""
    digest = hashlib.sha256()
    for path in (*_files(folder / "train"), *_files(folder / "test")):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
    return f"folder-{digest.hexdigest()[:16]}"
