"""What a checkpoint knows beside tensors: state.json."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.progress import Progress

NAME = "state.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """How far the run was, and what it was.

    `config` maps names of configuration fields to JSON values. `parts` is into how many parts each batch was divided:
    the number of ranks, or of groups of ranks that computed one sample together. `extras` are the strategy's.
    """

    progress: Progress
    config: Mapping[str, Any]
    fingerprint: str
    world_size: int
    parts: int
    extras: Mapping[str, Any]
    torch: str

    def as_json(self) -> bytes:
        """The contents of state.json."""
        return json.dumps(asdict(self), indent=2).encode()


def read(folder: Path, step: int) -> State:
    """The state that the checkpoint of `step` in `folder` has.

    Raises:
        InvalidCheckpointError: It is not that of a checkpoint of this trainer, or of another step.
    """
    try:
        fields = json.loads((folder / NAME).read_bytes())
        state = State(**{**fields, "progress": Progress(**fields["progress"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidCheckpointError(f"{NAME} is not that of a checkpoint of this trainer: {error}") from error
    if state.progress.step != step:
        raise InvalidCheckpointError(f"holds step {state.progress.step}")
    return state
