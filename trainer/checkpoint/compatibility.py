"""Whether a checkpoint is of a run that another one can continue."""

from pathlib import Path

from trainer.checkpoint.state import State
from trainer.config import TrainerConfig
from trainer.config.option import flag
from trainer.errors import CheckpointError

# Weights of another size do not fit, and the test samples of another seed were trained on. All else may change: how
# the work is spread, the size of a batch, the learning rate, how long.
_FIXED = ("seed", "model", "hidden_size", "num_layers", "num_heads", "context_length", "data", "classes")


def check_same_run(path: Path, state: State, config: TrainerConfig, fingerprint: str) -> None:
    """Whether a run of `config` continues that of checkpoint `path`.

    Raises:
        CheckpointError: It does not. The message says what to write.
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
