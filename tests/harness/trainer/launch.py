"""Starts the trainer as a user would and reads its output."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import Forked, fork

EPOCH = re.compile(
    r"epoch=(\d+)/\d+ loss=([\d.]+) test_loss=[\d.]+ test_accuracy=([\d.]+) seconds=[\d.]+ samples_per_second=\d+"
)
# A run takes seconds, or minutes beside the tests on a cluster. One that takes this long hangs.
TIMEOUT_SECONDS = 400


Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found]) -> Found:
    """Waits until `condition` returns something true, and returns it."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@dataclass(frozen=True)
class Finished:
    """A finished run: its exit status, the lines of its stdout, its stderr and its checkpoint directory."""

    returncode: int
    lines: list[str]
    stderr: str
    directory: Path

    @property
    def epochs(self) -> list[tuple[int, float, float]]:
        """Number, loss and test accuracy of each epoch in the log."""
        found = (EPOCH.fullmatch(line) for line in self.lines)
        return [(int(match[1]), float(match[2]), float(match[3])) for match in found if match]

    @property
    def errors(self) -> list[str]:
        """The trainer's error lines in stderr, which also contains torchrun's."""
        return [line for line in self.stderr.splitlines() if line.startswith("trainer: error: ")]


@dataclass(frozen=True)
class Started:
    """A running trainer."""

    process: Forked
    directory: Path

    def wait_for(self, condition: Callable[[], Found]) -> Found:
        """Waits until `condition` returns something true while the run is running, and returns it."""

        def reached() -> Found:
            found = condition()
            assert found or self.process.poll() is None
            return found

        return wait_until(reached)

    def finish(self) -> Finished:
        """Waits for the run to end."""
        stdout, stderr = self.process.communicate(timeout=TIMEOUT_SECONDS)
        return Finished(self.process.wait(), stdout.splitlines(), stderr, self.directory)

    def stop(self) -> None:
        """Ends the run, if a test has not, by SIGTERM, which torchrun forwards to its workers."""
        self.process.terminate()
        self.process.communicate(timeout=TIMEOUT_SECONDS)


def start(
    directory: Path,
    *flags: str,
    processes: int = 1,
    fault: str | None = None,
    environment: Mapping[str, str] | None = None,
    anew: bool = False,
) -> Started:
    """Starts the trainer with checkpoints in `directory`, under torchrun if there are several `processes`.

    Args:
        directory: The checkpoint directory.
        flags: Further flags of the trainer.
        processes: Ranks of the run.
        fault: One of `tests.trainer.fault_injection`.
        environment: Further variables.
        anew: If true, each process starts Python and imports PyTorch, as those of a user do. Else it is a fork.
    """
    program = ["tests.trainer.fault_injection" if fault else "trainer", f"--checkpoint-dir={directory}", *flags]
    if processes > 1:
        program = torchrun(processes, program, anew=anew)
    variables = {**ENVIRONMENT, "FAULT": fault or "", **(environment or {})}
    return Started(fork(program, variables, anew=anew), directory)


def torchrun(processes: int, program: Sequence[str], *, anew: bool = False) -> list[str]:
    """Returns the arguments of a torchrun on this node that runs `program`, a module or a file.

    The ranks are forks, unless they start `anew`.
    """
    launcher = "torch.distributed.run" if anew else "tests.harness.trainer.torchrun"
    by_name = [] if program[0].endswith(".py") else ["-m"]
    return [launcher, "--standalone", f"--nproc-per-node={processes}", *by_name, *program]
