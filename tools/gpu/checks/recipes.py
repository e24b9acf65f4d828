"""The recipes: programs of other libraries, with the checkpoints and the SIGTERM handling of the trainer."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import yaml

from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.machine import ROOT
from tools.gpu.session import Session, first_error

RECIPES = ROOT / "recipes"


def train_twice(session: Session, recipe: str, lengths: tuple[int, int], *flags: str) -> Measured:
    """Runs a recipe to its end, and then once more for longer, from its sealed checkpoints."""
    checkpoints = session.folder / "checkpoints"
    first = _train(session, recipe, checkpoints, lengths[0], *flags)
    sealed = {path.parent.name for path in checkpoints.glob("*/manifest.json")}
    if not sealed:
        raise CheckFailedError("the run has left no sealed checkpoint")
    second = _train(session, recipe, checkpoints, lengths[1], *flags)
    if second <= first:
        raise CheckFailedError(f"the second run ends after step {second}, and the first one after step {first}")
    return {"ranks": session.machine.ranks, "steps": first, "steps_of_both": second, "checkpoints": len(sealed)}


def _train(session: Session, recipe: str, checkpoints: Path, length: int, *flags: str) -> int:
    """Returns the number of the last step."""
    ranks = session.machine.ranks
    torchrun = ("torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}")
    script = str(RECIPES / recipe / "train.py")
    arguments = [*torchrun, script, str(checkpoints), str(length), *flags]
    path = os.pathsep.join([str(_installed(session)), *filter(None, [os.environ.get("PYTHONPATH")])])
    process, log = session.launch(f"train-{length}", arguments, {"PYTHONPATH": path})
    if status := session.wait(process, f"recipe {recipe}"):
        raise CheckFailedError(f"recipe {recipe} exits with {status}: {first_error(log)}")
    finished = re.search(r"finished: ranks=(\d+) steps=(\d+)", log.read_text())
    if finished is None or int(finished[1]) != ranks:
        raise CheckFailedError(f"recipe {recipe} does not report its end with {ranks} ranks: {first_error(log)}")
    return int(finished[2])


def _installed(session: Session) -> Path:
    """Returns a folder with the trainer under the name that its wheel has."""
    folder = session.folder / "installed"
    folder.mkdir(exist_ok=True)
    link = folder / "trainyard_trainer"
    if not link.exists():
        link.symlink_to(ROOT / "trainer")
    return folder


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


def _recipe(name: str, lengths: tuple[int, int], *packages: str, rehearsed: bool = False) -> Check:
    return Check(
        name=f"recipe-{name}",
        what=f"recipes/{name} on all GPUs, and once more from its checkpoints",
        bar="both runs end with all ranks, and the second one continues from a sealed checkpoint",
        run=_deepspeed if name == "deepspeed" else lambda session: train_twice(session, name, lengths),
        packages=packages,
        rehearsed=rehearsed,
    )


CHECKS = (
    _recipe("torchrun-script", (2, 4), rehearsed=True),
    _recipe("huggingface-trainer", (20, 40), "transformers", "accelerate", rehearsed=True),
    _recipe("lightning", (1, 2), "lightning", rehearsed=True),
    _recipe("deepspeed", (16, 32), "deepspeed", rehearsed=True),
)
