"""The check that a run can continue from a checkpoint."""

from __future__ import annotations

from pathlib import Path

from trainer.checkpoint.state import CheckpointState
from trainer.config import TrainerConfig
from trainer.config.option import flag
from trainer.errors import CheckpointError

# Weights of another size do not fit, and with another seed test samples become training samples. Everything else may
# change: strategy, world size, batch size, learning rate, number of epochs.
_FIXED = ("seed", "model", "hidden_size", "num_layers", "num_heads", "context_length", "data", "classes")


def check_compatible(path: Path, state: CheckpointState, config: TrainerConfig, fingerprint: str) -> None:
    """Checks that a run of `config` can continue from checkpoint `path`.

    Raises:
        CheckpointError: It cannot. The message says what to change.
    """
    wanted = config.as_json()
    for name in _FIXED:
        if (had := state.config.get(name)) != wanted[name]:
            raise CheckpointError(
                f"checkpoint {path} was trained with {flag(name)} {had} and this run has {flag(name)} {wanted[name]}: "
                f"write {flag(name)} {had} to continue it, or another --checkpoint-dir to start afresh"
            )
    if state.fingerprint != fingerprint:
        raise CheckpointError(
            f"checkpoint {path} was trained on other data ({state.fingerprint}) than this run has ({fingerprint}): "
            "write the --data-dir that it was trained on to continue it, or another --checkpoint-dir to start afresh"
        )
