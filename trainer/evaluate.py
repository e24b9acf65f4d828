"""`python -m trainer.evaluate DIR`: verifies the newest checkpoint in DIR and evaluates its weights.

Needs no process group and writes nothing. Any pod that mounts the volume, even read-only, can run it, regardless of the
ranks and the strategy that saved the checkpoint.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .checkpoint.catalog import require_newest_valid
from .checkpoint.tensors import read_model
from .config import TrainerConfig
from .data import load_data
from .errors import CheckpointError
from .metrics.accuracy import EvaluationData, score
from .models import build_model
from .standalone import run_standalone

DESCRIPTION = (
    "Verify the newest checkpoint in DIR and evaluate its weights on the test data. The command needs no process group "
    "and writes nothing: any pod that mounts the volume can run it, even read-only, for any strategy and world size."
)


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Returns:
        The exit status: 0 with one line about the checkpoint, 1 if no checkpoint is valid.
    """
    parser = argparse.ArgumentParser(prog="python -m trainer.evaluate", description=DESCRIPTION)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    given = parser.parse_args(arguments)
    return run_standalone(lambda: evaluate(given.directory))


def evaluate(directory: Path) -> str:
    """Computes loss and accuracy of the newest valid checkpoint in `directory`.

    Returns:
        One line that describes the checkpoint.

    Raises:
        CheckpointError: No checkpoint in `directory` is valid, or its training data are not available.
    """
    path, state = require_newest_valid(directory)
    config = TrainerConfig.from_json(state.config)
    data = load_data(config)
    if data.fingerprint != state.fingerprint:
        raise CheckpointError(
            f"checkpoint {path} was trained on other data ({state.fingerprint}) than {config.data_dir} contains now "
            f"({data.fingerprint}): mount the original data there"
        )
    model = build_model(config, shape=data.shape, classes=data.classes)
    model.load_state_dict(read_model(path))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    tested = ""
    if data.test is not None:
        # As in the run, so that both report the same numbers.
        test = EvaluationData(samples=data.test, batch_size=config.batch_size, batches=config.eval_batches)
        tested = f"{score(model, test)} "
    return (
        f"checkpoint: epoch={state.train_state.epoch} step={state.train_state.step} "
        f"{tested}parameters={parameters} path={path}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
