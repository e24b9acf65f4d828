"""Samples from files in a folder, such as a volume mounted in every pod.

The folder has the subfolder `train/`, and `test/` if the run is evaluated. Files are read in the order of their names,
so that a sample has the same index on every rank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import TrainerConfig
from ..errors import ConfigError, DataError, TrainerError
from ..runtime.log import log
from .batch import Batch, Data, Indices
from .formats import SUFFIXES, Shard, open_shards, parquet
from .formats.shard import Rows, positions

_BRIGHTEST = 255.0


@dataclass(frozen=True, slots=True)
class Folder:
    """The samples of several files, in order.

    Attributes:
        shards: The files, or parts of files.
        ends: The number of samples up to the end of each.
        shape: Shape of the input of each sample.
        is_text: True if samples are rows of tokens.
        classes: Number of classes, or size of the vocabulary.
    """

    shards: tuple[Shard, ...]
    ends: Indices
    shape: tuple[int, ...]
    is_text: bool
    classes: int

    def __len__(self) -> int:
        return int(self.ends[-1])

    def take(self, indices: Indices) -> Batch:
        """Returns the samples at `indices`, in that order.

        Raises:
            DataError: A file cannot be read, has changed, or has samples that differ from the first or exceed
                `classes`.
        """
        inputs = np.empty((len(indices), *self.shape), np.int64 if self.is_text else np.float32)
        targets = np.empty(inputs.shape if self.is_text else len(indices), np.int64)
        for number, chosen, places in positions(self.ends, indices):
            inputs[chosen], targets[chosen] = self._rows(self.shards[number], places)
        return Batch(torch.from_numpy(inputs), torch.from_numpy(targets))

    def _rows(self, shard: Shard, places: Indices) -> Rows:
        try:
            inputs, targets = shard.rows(places)
        except OSError as error:
            raise DataError(f"cannot read {shard.name}: {error}: start the run again once it is readable") from error
        self.check(shard.name, places, (inputs, targets))
        if self.is_text:
            return inputs, targets
        # Images may also be stored as bytes.
        scale = _BRIGHTEST if inputs.dtype == np.uint8 else 1.0
        return inputs.astype(np.float32) / np.float32(scale), targets

    def check(self, name: str, places: Indices, rows: Rows) -> None:
        """Raises DataError unless `rows`, at `places` of the file `name`, suit the run."""
        _check_shape(name, rows, self.shape, is_text=self.is_text)
        inputs, targets = rows
        self._check_range(name, places, targets)
        if self.is_text:
            self._check_range(name, places, inputs)

    def _check_range(self, name: str, places: Indices, values: NDArray[Any]) -> None:
        # On a GPU such a value would end the process, in an assertion that names neither file nor row.
        if values.min() >= 0 and values.max() < self.classes:
            return
        rows = values.reshape(len(values), -1)
        row = int(np.argmax((rows.min(axis=1) < 0) | (rows.max(axis=1) >= self.classes)))
        bad = rows[row].min() if rows[row].min() < 0 else rows[row].max()
        kind, advice = ("token", "the size of the vocabulary") if self.is_text else ("class", "the number of classes")
        raise DataError(
            f"{name}, row {places[row]} has {kind} {bad}, and --classes is {self.classes}: "
            + (f"write --classes with {advice}, more than {bad}" if bad >= 0 else "write numbers from 0")
        )


def load_folder(config: TrainerConfig) -> Data:
    """Loads the samples in `train` and, if it exists, `test` of `config.data_dir`.

    Raises:
        TrainerError: A folder or file is missing or unreadable, or does not suit the model.
    """
    training = _load(config.data_dir / "train", config)
    _check_model(config, training)
    has_test = (config.data_dir / "test").exists()
    test = _load(config.data_dir / "test", config) if has_test else None
    for samples in (training, test) if test else (training,):
        # Before the run starts, which may take minutes. Later samples are checked when they are read.
        first = samples.shards[0]
        training.check(first.name, np.zeros(1, np.int64), first.first())
    return Data(
        training=training,
        test=test,
        shape=training.shape,
        classes=config.classes,
        fingerprint=_fingerprint(config.data_dir, has_test=has_test),
    )


def _check_model(config: TrainerConfig, samples: Folder) -> None:
    shape = samples.shape
    if samples.is_text != config.reads_tokens:
        kind, models = ("tokens", "gpt or llama") if samples.is_text else ("inputs with one target each", "mlp or cnn")
        raise ConfigError(f"{config.data_dir} has {kind}, and the model is {config.model}: write --model {models}")
    if samples.is_text and shape[0] != config.context_length:
        raise ConfigError(
            f"{config.data_dir} has rows of {shape[0] + 1} tokens: write --context-length {shape[0]}, one less"
        )
    if not shape:
        raise ConfigError(f"{config.data_dir} has inputs of one number: write at least one dimension, such as (n, 1)")
    if config.model == "cnn" and (len(shape) != 2 or min(shape) < 2):
        raise ConfigError(
            f"{config.data_dir} has inputs of shape {shape}, and the model cnn reads (height, width), at least (2, 2): "
            "write images of one channel, or --model mlp"
        )


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    except OSError as error:
        advice = "write --data-dir with a folder that has train/, and test/ if the run is evaluated"
        raise ConfigError(f"cannot list {folder}: {error.strerror}: {advice}") from error


def _load(folder: Path, config: TrainerConfig) -> Folder:
    files = _files(folder)
    if not files:
        raise ConfigError(f"{folder} has no samples: put {', '.join(SUFFIXES)} files there")
    opened = [_open(path, config) for path in files]
    decoded = sum(
        rows[0].nbytes * sum(map(len, shards))
        for path, (shards, rows) in zip(files, opened, strict=True)
        if path.suffix == ".parquet"
    )
    if decoded > parquet.CACHE_BYTES:
        log(
            f"{folder} has {decoded >> 30} GiB in .parquet files, and each process keeps {parquet.CACHE_BYTES >> 30} "
            "GiB: other samples are decoded again at each use; write .safetensors or .bin files, which are read on "
            "demand"
        )
    shards = tuple(shard for parts, _ in opened for shard in parts)
    inputs, targets = opened[0][1]
    ends = np.cumsum([len(shard) for shard in shards])
    samples = Folder(shards, ends, inputs.shape[1:], targets.ndim > 1, config.classes)
    for path, (_, rows) in zip(files, opened, strict=True):
        _check_shape(str(path), rows, samples.shape, is_text=samples.is_text)
    return samples


def _open(path: Path, config: TrainerConfig) -> tuple[Sequence[Shard], Rows]:
    """Opens a file and reads its first row."""
    try:
        opened = open_shards(path, config.context_length)
        if sum(map(len, opened)):
            return opened, opened[0].first()
    except TrainerError:
        raise
    except Exception as error:  # each format's library has its own error types
        reason = " ".join(str(error).split())
        raise ConfigError(f"cannot read {path}: {reason}: write it again, or remove it") from error
    row = f" of {config.context_length + 1} tokens (--context-length and one)" if path.suffix == ".bin" else ""
    raise ConfigError(f"{path} has no sample{row}: write it again, or remove it")


def _check_shape(name: str, rows: Rows, shape: tuple[int, ...], *, is_text: bool) -> None:
    """Raises DataError unless `rows` are numbers of the same shape as the first sample."""
    inputs, targets = rows
    for array, kinds, meant in ((inputs, "iu" if is_text else "biuf", "numbers"), (targets, "iu", "whole numbers")):
        if array.dtype.kind not in kinds:
            raise DataError(f"{name} has values of type {array.dtype}: write {meant}")
    if (targets.ndim > 1) != is_text or (not is_text and targets.ndim != 1):
        raise DataError(f"{name} and the files before it mix images and tokens: write them into two folders")
    if inputs.shape[1:] != shape:
        found, first = (
            f"rows of {s[0] + 1} tokens" if is_text else f"inputs of shape {s}" for s in (inputs.shape[1:], shape)
        )
        raise DataError(f"{name} has {found}, and the first file has {first}: write samples of one shape")


def _fingerprint(folder: Path, *, has_test: bool) -> str:
    """Hashes names and sizes only: reading terabytes would delay the start of every run."""
    digest = hashlib.sha256()
    for path in _all_files(folder, has_test=has_test):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
    return f"folder-{digest.hexdigest()[:16]}"


def _all_files(folder: Path, *, has_test: bool) -> Iterator[Path]:
    yield from _files(folder / "train")
    if has_test:
        yield from _files(folder / "test")
