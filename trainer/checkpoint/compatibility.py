"""The check that a run can continue from a checkpoint."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from ..config import TrainerConfig
from ..config.model import ARCHITECTURE
from ..config.option import flag
from ..errors import CheckpointError
from .manifest import InvalidCheckpointError
from .state import CheckpointState

# Weights of another size do not fit, and with another seed test samples become training samples. Everything else may
# change: strategy, world size, batch size, learning rate, number of epochs.
_FIXED = ("seed", *ARCHITECTURE, "context_length", "data", "classes")
_NUMBER = (int, float)


def check_compatible(path: Path, state: CheckpointState, config: TrainerConfig, fingerprint: str) -> None:
    """Checks that a run of `config` can continue from checkpoint `path`.

    Raises:
        CheckpointError: It cannot. The message says what to change.
        InvalidCheckpointError: The checkpoint has a field of another type.
    """
    wanted = config.as_json()
    # A checkpoint of an earlier version lacks newer fields, whose defaults are as that version computed.
    defaults = {config_field.name: config_field.default for config_field in fields(TrainerConfig)}
    for name in _FIXED:
        if (had := state.config.get(name, defaults[name])) != wanted[name]:
            if not isinstance(had, _NUMBER if isinstance(wanted[name], _NUMBER) else str):
                raise InvalidCheckpointError(f"state.json has {name} {had!r:.40}, which no trainer writes")
            raise CheckpointError(
                f"checkpoint {path} was trained with {flag(name, had)} and this run has {flag(name, wanted[name])}: "
                f"write {flag(name, had)} to continue it, or another --checkpoint-dir to start afresh"
            )
    if state.fingerprint != fingerprint:
        raise CheckpointError(
            f"checkpoint {path} was trained on other data ({state.fingerprint}) than this run has ({fingerprint}): "
            "write the --data-dir that it was trained on to continue it, or another --checkpoint-dir to start afresh"
        )


def check_position(state: CheckpointState, samples: int) -> None:
    """Checks that the position is within its epoch of `samples` samples: the run would never end otherwise.

    Raises:
        InvalidCheckpointError: It is not, so no run on these data wrote it.
    """
    epoch, position = state.train_state.epoch, state.train_state.position
    if not epoch * samples <= position <= (epoch + 1) * samples:
        raise InvalidCheckpointError(
            f"state.json has position {position} after {epoch} epochs, and an epoch has {samples} samples"
        )
