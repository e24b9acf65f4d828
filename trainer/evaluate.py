"""`python -m trainer.evaluate DIR`: verifies the newest checkpoint in DIR and evaluates its weights afresh.

Needs no process group and writes nothing, so any pod that mounts the volume, even read-only, can run it.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from trainer.checkpoint.catalogue import newest_valid
from trainer.config import TrainerConfig
from trainer.data.digits import load_digits
from trainer.errors import CheckpointError, TrainerError
from trainer.loop import build_model
from trainer.metrics.accuracy import count_correct
from trainer.runtime.log import log, report


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 0 with one line about the checkpoint, 1 when there is none that is valid."""
    parser = argparse.ArgumentParser(prog="python -m trainer.evaluate", description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    os.environ.pop("RANK", None)  # in a pod of a run it is set, and only rank 0 would be heard
    try:
        log(evaluate(parser.parse_args(arguments).directory))
    except TrainerError as error:
        report(error)
        return error.exit_code
    return 0


def evaluate(directory: Path) -> str:
    """The line that describes the newest valid checkpoint in `directory`: its accuracy is computed, not read.

    Raises:
        CheckpointError: No checkpoint in `directory` is valid.
    """
    found = newest_valid(directory)
    if found is None:
        raise CheckpointError(f"no valid checkpoint in {directory}: write the --checkpoint-dir of a run")
    path, checkpoint = found
    config = TrainerConfig.from_json(checkpoint.config)
    model = build_model(config)
    model.load_state_dict(checkpoint.model)
    _, test = load_digits(config.seed)
    accuracy = count_correct(model, test.inputs, test.labels) / len(test)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return f"checkpoint: epoch={checkpoint.epoch} test_accuracy={accuracy:.4f} parameters={parameters} path={path}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
