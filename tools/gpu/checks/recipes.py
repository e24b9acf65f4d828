"""The recipes: programs of other libraries, with the checkpoints and the SIGTERM handling of the trainer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import yaml

from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.machine import ROOT
from tools.gpu.session import Session, first_error, torchrun

RECIPES = ROOT / "recipes"


def train_twice(session: Session, recipe: str, lengths: tuple[int, int], *flags: str) -> Measured:
    """Runs a recipe to its end, and then once more for longer, from its sealed checkpoints."""
    checkpoints, installed = session.folder / "checkpoints", session.folder / "installed"
    installed.mkdir()
    # The name of the trainer in its wheel.
    (installed / "trainyard_trainer").symlink_to(ROOT / "trainer")

    def train(length: int) -> int:
        name, ranks = f"train-{length}", session.machine.ranks
        arguments = [*torchrun(ranks), str(RECIPES / recipe / "train.py"), str(checkpoints), str(length), *flags]
        log = "\n".join(session.output_of(name, arguments, f"recipe {recipe}", [installed]))
        finished = re.search(r"finished: ranks=(\d+) steps=(\d+)", log)
        if finished is None or int(finished[1]) != ranks:
            error = first_error(session.folder / f"{name}.log")
            raise CheckFailedError(f"recipe {recipe} does not report its end with {ranks} ranks: {error}")
        return int(finished[2])

    first = train(lengths[0])
    sealed = {path.parent.name for path in checkpoints.glob("*/manifest.json")}
    if not sealed:
        raise CheckFailedError("the run has left no sealed checkpoint")
    second = train(lengths[1])
    if second <= first:
        raise CheckFailedError(f"the second run ends after step {second}, and the first one after step {first}")
    return {"ranks": session.machine.ranks, "steps": first, "steps_of_both": second, "checkpoints": len(sealed)}


def _deepspeed(session: Session) -> Measured:
    """Runs the recipe of DeepSpeed with the configuration that the chart writes from its values."""
    values = yaml.safe_load((RECIPES / "deepspeed" / "values.yaml").read_text())["deepspeed"]
    config = values["config"] | {
        "train_micro_batch_size_per_gpu": values["microBatchPerGpu"],
        "zero_optimization": {"stage": values["zeroStage"]},
    }
    path = session.folder / "deepspeed.json"
    path.write_text(json.dumps(config))
    return train_twice(session, "deepspeed", (16, 32), f"--deepspeed_config={path}")


def _recipe(name: str, run: Callable[[Session], Measured], *packages: str) -> Check:
    return Check(
        name=f"recipe-{name}",
        what=f"recipes/{name} on all GPUs, and once more from its checkpoints",
        bar="both runs end with all ranks, and the second one continues from a sealed checkpoint",
        run=run,
        packages=packages,
        rehearsed=True,
    )


CHECKS = (
    # The lengths are epochs or steps, as each program counts them.
    _recipe("torchrun-script", lambda session: train_twice(session, "torchrun-script", (2, 4))),
    _recipe(
        "huggingface-trainer",
        lambda session: train_twice(session, "huggingface-trainer", (20, 40)),
        "transformers",
        "accelerate",
    ),
    _recipe("lightning", lambda session: train_twice(session, "lightning", (1, 2)), "lightning"),
    _recipe("deepspeed", _deepspeed, "deepspeed"),
)
