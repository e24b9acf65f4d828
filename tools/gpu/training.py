"""Runs of the trainer: started as a user does, and followed by their events."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Process, Session, first_error, torchrun

# A GPT that trains in seconds, also on a processor. Without dropout all strategies give the same losses.
TINY = (
    "--model=gpt",
    "--data=text",
    "--hidden-size=32",
    "--num-layers=2",
    "--num-heads=2",
    "--context-length=32",
    "--batch-size=16",
    "--dropout=0",
    # The default is bf16 on GPUs, and the losses of most checks are compared with those of fp32.
    "--precision=fp32",
)
ENDLESS = "--epochs=1000000"
# Losses at the begin and at the end are means, because single batches differ.
_WINDOW = 3


@dataclass(frozen=True)
class Run:
    """A run of the trainer under torchrun."""

    session: Session
    name: str
    process: Process
    log: Path

    @property
    def events_file(self) -> Path:
        """The file to which rank 0 appends events."""
        return self.session.folder / f"{self.name}.jsonl"

    @property
    def checkpoints(self) -> Path:
        """The checkpoint directory."""
        return self.session.folder / f"{self.name}-checkpoints"

    def events(self, name: str) -> list[dict[str, Any]]:
        """Returns the events of one kind so far. An incomplete last line is left out."""
        if not self.events_file.exists():
            return []
        lines = self.events_file.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("}\n")]
        return [event for event in found if event["event"] == name]

    def wait_for(self, name: str, number: int = 1) -> list[dict[str, Any]]:
        """Waits for this many events of one kind, and returns them.

        Raises:
            CheckFailedError: The run ended before.
        """

        def reached() -> bool:
            ended = self.process.poll() is not None
            if len(self.events(name)) >= number:
                return True
            if ended:
                raise CheckFailedError(f"run {self.name} ended too early: {first_error(self.log)}")
            return False

        self.session.wait_until(reached, f"event {name} of run {self.name}")
        return self.events(name)

    def finish(self) -> int:
        """Waits for the end, and returns the exit status of torchrun."""
        return self.session.wait(self.process, f"run {self.name}")

    def succeed(self) -> None:
        """Waits for the end.

        Raises:
            CheckFailedError: The run failed.
        """
        status = self.finish()
        if status:
            raise CheckFailedError(f"run {self.name} exits with {status}: {first_error(self.log)}")

    def losses(self) -> list[float]:
        """Waits for the end, and returns the loss of each step.

        Raises:
            CheckFailedError: The run failed, a loss is not finite, or the loss did not fall.
        """
        self.succeed()
        losses = [event["loss"] for event in self.events("step")]
        if not losses or not all(loss is not None and math.isfinite(loss) for loss in losses):
            raise CheckFailedError(f"run {self.name} has no losses, or some that are not finite: {losses}")
        if fmean(losses[-_WINDOW:]) >= fmean(losses[:_WINDOW]):
            raise CheckFailedError(f"the loss of run {self.name} does not fall: {losses[0]:.4f} to {losses[-1]:.4f}")
        return losses


def begin(
    session: Session,
    name: str,
    *flags: str,
    ranks: int,
    program: str = "trainer",
    restarts: int = 0,
    variables: Mapping[str, str] | None = None,
) -> Run:
    """Starts a run of a GPT under torchrun, with its events and checkpoints in the folder of the check."""
    files = (
        f"--events-file={session.folder / name}.jsonl",
        f"--checkpoint-dir={session.folder / name}-checkpoints",
        f"--dump-dir={session.folder / name}-dumps",
    )
    arguments = [*torchrun(ranks), f"--max-restarts={restarts}", "-m", program, *TINY, *files, *flags]
    return Run(session, name, *session.launch(name, arguments, variables or {}))


def supervisors(run: Run) -> list[int]:
    """Returns the processes that torchrun started for the ranks, in the order of the ranks."""
    return _children(run.process.pid)


def rank_of(supervisor: int) -> int:
    """Returns the process of the rank; the supervisor of rank 0 may have another child, which hosts the store."""
    return _children(supervisor)[-1]


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
