"""Runs that write a checkpoint, and runs that read it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

STRATEGIES = ("ddp", "fsdp2", "tensor")
# Small, because the checkpoints of older releases are kept as files of a test.
FLAGS = ("--model=mlp", "--hidden-size=8", "--batch-size=16", "--data=digits", "--in-place-restarts=0")
RANKS = 2
SAVED, LAST = 2, 6
_SECONDS = 300


@dataclass(frozen=True)
class Ended:
    """A run that has ended: the losses of its steps by their number, and its error, empty if it trained."""

    losses: dict[int, float]
    error: str


def write(python: Path, strategy: str, folder: Path) -> Ended:
    """Trains to the step whose checkpoint the others read."""
    shutil.rmtree(folder, ignore_errors=True)
    return _train(python, strategy, folder, SAVED)


def read(python: Path, strategy: str, written: Path, folder: Path) -> Ended:
    """Trains on from a copy of the checkpoints in `written`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(written, folder)
    return _train(python, strategy, folder, LAST)


def _train(python: Path, strategy: str, folder: Path, steps: int) -> Ended:
    events = folder.with_suffix(".jsonl")
    events.parent.mkdir(parents=True, exist_ok=True)
    events.unlink(missing_ok=True)
    launcher = [str(python), "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", "-m"]
    flags = [*FLAGS, f"--strategy={strategy}", f"--steps={steps}", f"--checkpoint-dir={folder}"]
    finished = subprocess.run(
        [*launcher, "trainer", *flags, f"--events-file={events}"],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
    )
    if finished.returncode:
        said = [line for line in finished.stderr.splitlines() if line.startswith("trainer: error: ")]
        return Ended({}, (said or finished.stderr.splitlines()[-1:])[0])
    found = [json.loads(line) for line in events.read_text().splitlines()]
    return Ended({event["step"]: event["loss"] for event in found if event["event"] == "step"}, "")
