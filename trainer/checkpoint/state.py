"""The part of a checkpoint that is not tensors: state.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.train_state import TrainState

NAME = "state.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointState:
    """The run at the time of the save.

    Attributes:
        train_state: The progress of the run.
        config: The configuration as JSON values by field name.
        fingerprint: Identifies the data.
        world_size: The number of ranks.
        parts: Parts that each batch is split into: the number of ranks, or of groups of ranks that compute a sample
            together.
        extras: State of the strategy that is not tensors.
        torch: The version of PyTorch.
    """

    train_state: TrainState
    config: Mapping[str, Any]
    fingerprint: str
    world_size: int
    parts: int
    extras: Mapping[str, Any]
    torch: str

    def as_json(self) -> bytes:
        """Returns the content of state.json."""
        fields = asdict(self)
        return json.dumps({"progress": fields.pop("train_state"), **fields}, indent=2).encode()


def read_state(folder: Path, step: int) -> CheckpointState:
    """Reads the state of the checkpoint of `step` in `folder`.

    Raises:
        InvalidCheckpointError: The file was not written by this trainer, or is of another step.
    """
    try:
        fields = json.loads((folder / NAME).read_bytes())
        state = CheckpointState(train_state=TrainState(**fields.pop("progress")), **fields)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidCheckpointError(f"{NAME} was not written by this trainer: {error}") from error
    if state.train_state.step != step:
        raise InvalidCheckpointError(f"holds step {state.train_state.step}")
    return state
