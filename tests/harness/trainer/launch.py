"""Starts the trainer as a user would and reads its output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

EPOCH = re.compile(r"epoch=(\d+)/\d+ loss=([\d.]+) test_accuracy=([\d.]+) seconds=[\d.]+ samples_per_second=\d+")
# PYTHONDONTWRITEBYTECODE would make every process compile the thousands of modules that torch imports.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "OMP_NUM_THREADS": "1",
    # If the host name resolves to a network address, gloo would use that network's interface.
    "GLOO_SOCKET_IFNAME": "lo",
}
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

    process: subprocess.Popen[str]
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
        return Finished(self.process.returncode, stdout.splitlines(), stderr, self.directory)

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
) -> Started:
    """Starts the trainer with checkpoints in `directory`, under torchrun if there are several `processes`.

    `fault` is one of `tests.trainer.fault_injection`.
    """
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    module = "tests.trainer.fault_injection" if fault else "trainer"
    process = subprocess.Popen(
        [sys.executable, *(torchrun if processes > 1 else []), "-m", module, f"--checkpoint-dir={directory}", *flags],
        env={**ENVIRONMENT, "FAULT": fault or "", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return Started(process, directory)
