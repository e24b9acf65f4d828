"""`python -m trainer.evaluate DIR`: verifies the newest checkpoint in DIR and evaluates its weights afresh.

Needs no process group and writes nothing, so any pod that mounts the volume, even read-only, can run it, whatever ranks
and strategy the checkpoint was saved with.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from trainer.checkpoint.catalogue import newest_in
from trainer.checkpoint.tensors import read_model
from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.batch import Samples
from trainer.errors import CheckpointError
from trainer.metrics.accuracy import count_correct
from trainer.models import Model, build_model
from trainer.standalone import answer


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 0 with one line about the checkpoint, 1 when there is none that is valid."""
    parser = argparse.ArgumentParser(prog="python -m trainer.evaluate", description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    given = parser.parse_args(arguments)
    return answer(lambda: evaluate(given.directory))


def evaluate(directory: Path) -> str:
    """The line that describes the newest valid checkpoint in `directory`: its accuracy is computed, not read.

    Raises:
        CheckpointError: No checkpoint in `directory` is valid, or its data are not there.
    """
    path, state = newest_in(directory)
    config = TrainerConfig.from_json(state.config)
    data = load_data(config)
    if data.fingerprint != state.fingerprint:
        raise CheckpointError(
            f"checkpoint {path} was trained on other data ({state.fingerprint}) than are in {config.data_dir} now "
            f"({data.fingerprint}): mount those that it was trained on there"
        )
    model = build_model(config, shape=data.shape, classes=data.classes)
    model.load_state_dict(read_model(path))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return (
        f"checkpoint: epoch={state.progress.epoch} step={state.progress.step} "
        f"test_accuracy={_accuracy(model, data.test, config.batch_size):.4f} parameters={parameters} path={path}"
    )


@torch.inference_mode()
def _accuracy(model: Model, samples: Samples, batch_size: int) -> float:
    model.eval()
    correct = 0.0
    for start in range(0, len(samples), batch_size):
        batch = samples.take(np.arange(start, min(start + batch_size, len(samples))))
        correct += count_correct(model(batch.inputs), batch.targets)
    return correct / len(samples)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
