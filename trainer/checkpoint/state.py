"""What a checkpoint holds, and its files.

- model.pt: state_dict of the model
- optimizer.pt: state_dict of the optimizer
- rng.pt: list of random states, one per rank
- state.json: epoch, its loss and test accuracy, world size, configuration
- manifest.json: sha256 and size of each of the above
"""

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from trainer.checkpoint.publish import InvalidCheckpointError, Write, verify

_STATE = "state.json"
_TENSORS = ("model", "optimizer", "rng")
FILES = frozenset({_STATE, *(f"{name}.pt" for name in _TENSORS)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Everything that makes the epochs after `epoch` the same as if the run had never stopped.

    Tensors are on the CPU when read. `config` maps names of configuration fields to JSON values.
    """

    epoch: int
    loss: float
    test_accuracy: float
    world_size: int
    config: Mapping[str, Any]
    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Any]
    rng: list[dict[str, Tensor]]


def writers(checkpoint: Checkpoint) -> dict[str, Write]:
    """A function per file that writes its part of `checkpoint`."""
    state = {
        "epoch": checkpoint.epoch,
        "loss": checkpoint.loss,
        "test_accuracy": checkpoint.test_accuracy,
        "world_size": checkpoint.world_size,
        "config": dict(checkpoint.config),
    }
    files: dict[str, Write] = {f"{name}.pt": _saver(getattr(checkpoint, name)) for name in _TENSORS}
    files[_STATE] = lambda stream: _write_json(stream, state)
    return files


def read(path: Path, epoch: int) -> Checkpoint:
    """The verified checkpoint of `epoch` in published directory `path`.

    Raises:
        InvalidCheckpointError: It is not whole, or its contents are not a checkpoint's.
    """
    verify(path, FILES)
    try:
        state = json.loads((path / _STATE).read_bytes())
        # weights_only: a checkpoint is data, and unpickling anything else could run code of whoever wrote it.
        tensors = {name: torch.load(path / f"{name}.pt", map_location="cpu", weights_only=True) for name in _TENSORS}
        checkpoint = Checkpoint(**state, **tensors)
    except (OSError, ValueError, TypeError, RuntimeError, pickle.UnpicklingError) as error:
        raise InvalidCheckpointError(f"not a checkpoint of this trainer: {error}") from error
    if checkpoint.epoch != epoch:
        raise InvalidCheckpointError(f"holds epoch {checkpoint.epoch}")
    return checkpoint


def _saver(value: object) -> Callable[[BinaryIO], None]:
    return lambda stream: torch.save(value, stream)


def _write_json(stream: BinaryIO, value: object) -> None:
    stream.write(json.dumps(value, indent=2).encode())
