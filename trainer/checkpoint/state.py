"""The part of a checkpoint that is not tensors: state.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any

from ..train_state import TrainState
from .manifest import STATE_NAME, InvalidCheckpointError, read_json

NAME = STATE_NAME


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointState:
    """The run at the time of the save.

    Attributes:
        train_state: The progress of the run.
        config: The configuration as JSON values by field name.
        fingerprint: Identifies the data.
        extras: State of the strategy that is not tensors.
        torch: The version of PyTorch.
    """

    train_state: TrainState
    config: Mapping[str, Any]
    fingerprint: str
    extras: Mapping[str, Any]
    torch: str

    def as_json(self) -> bytes:
        """Returns the content of state.json."""
        found = asdict(self)
        return json.dumps({"progress": found.pop("train_state"), **found}, indent=2).encode()


# The JSON types of each field.
_TYPES: dict[str, tuple[type, ...]] = {
    "progress": (dict,),
    "config": (dict,),
    "fingerprint": (str,),
    "extras": (dict,),
    "torch": (str,),
}
_VERSION = re.compile(r"\d+\.\d+")
# Fields of format 2, whose random state belonged to one world size.
_FORMER = ("world_size", "parts")
_PROGRESS: dict[str, tuple[type, ...]] = {
    "step": (int,),
    "position": (int,),
    "epoch": (int,),
    "loss_sum": (int, float),
    "loss": (int, float, NoneType),
    "test_accuracy": (int, float, NoneType),
    "emergency_saves": (int,),
}


def read_state(folder: Path, step: int) -> CheckpointState:
    """Reads the state of the checkpoint of `step` in `folder`.

    Raises:
        InvalidCheckpointError: No trainer wrote the file in a format that is read, or it is of another step.
    """
    found = read_json(folder / NAME)
    if isinstance(found, dict):
        found = {name: value for name, value in found.items() if name not in _FORMER}
    found = _checked(found, _TYPES)
    progress = _checked(found.pop("progress"), _PROGRESS)
    state = CheckpointState(train_state=TrainState(**progress), **found)
    if not _VERSION.match(state.torch):
        raise InvalidCheckpointError(f"{NAME} was not written by this trainer: torch is {state.torch!r:.40}")
    if state.train_state.step != step:
        raise InvalidCheckpointError(f"holds step {state.train_state.step}")
    return state


def _checked(found: Any, types: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Returns `found` if it is an object with exactly these fields, and no negative number among the whole ones."""
    if not isinstance(found, dict) or types.keys() - found.keys():
        raise InvalidCheckpointError(f"{NAME} was not written by this trainer")
    for name, allowed in types.items():
        value = found[name]
        if type(value) not in allowed or (type(value) is int and value < 0):
            raise InvalidCheckpointError(f"{NAME} was not written by this trainer: {name} is {value!r:.40}")
    if more := sorted(found.keys() - types.keys()):
        # A version with more fields has another format, and its manifest is refused before.
        names = ", ".join(map(ascii, more))
        raise InvalidCheckpointError(f"{NAME} has {names}, which no trainer writes in this format")
    return found


# A field that is saved must also be read.
assert _PROGRESS.keys() == {field.name for field in fields(TrainState)}  # noqa: S101
