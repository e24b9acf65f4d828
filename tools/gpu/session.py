"""The programs of one check: their logs, and a time limit that none of them outlives."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from tools.gpu.errors import CheckFailedError
from tools.gpu.machine import ROOT, Machine, environment

Found = TypeVar("Found")

_POLL_SECONDS = 0.05
_ERROR = re.compile(
    r"trainer: error: .*|trainer: rank \d+: .*|preflight: (?:error|node=\S+ fault): .*"
    r"|(?:[\w.]+(?:Error|Exception)): .*|.*\bNCCL WARN\b.*"
)
_MESSAGE_CHARACTERS = 300


class Process(Protocol):
    """A program that runs: the part of `subprocess.Popen` that checks use."""

    pid: int

    def poll(self) -> int | None:
        """Returns the exit status; none while the program runs."""


Start = Callable[[Sequence[str], Mapping[str, str], Path], Process]


def torchrun(ranks: int) -> tuple[str, ...]:
    """Returns the words that start this many ranks on this machine; options and the program follow."""
    return ("torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}")


def start_python(arguments: Sequence[str], variables: Mapping[str, str], log: Path) -> Process:
    """Starts `python -m` with these arguments. Its output goes to the log."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(variables),
            cwd=ROOT,
            start_new_session=True,
        )


@dataclass(frozen=True)
class Session:
    """The surroundings of one check.

    Attributes:
        machine: The machine.
        folder: The folder of this check, with its logs.
        seconds: The time limit of the check, which begins now.
        shared: Results that later checks compare with.
        start: Starts a program.
        libnccl: The library of NCCL to read.
        end_programs: Kills the programs of this check, and theirs.
    """

    machine: Machine
    folder: Path
    seconds: float
    shared: dict[str, list[float]] = field(default_factory=dict)
    start: Start = start_python
    libnccl: str = ""
    end_programs: Callable[[], None] = lambda: None
    _begun: float = field(default_factory=time.monotonic)

    def launch(
        self, name: str, arguments: Sequence[str], variables: Mapping[str, str], packages: Sequence[Path] = ()
    ) -> tuple[Process, Path]:
        """Starts a module, which finds the packages in these folders too; returns it with the path of its log."""
        log = self.folder / f"{name}.log"
        return self.start(arguments, environment(self.machine.device, packages) | dict(variables), log), log

    def output_of(self, name: str, arguments: Sequence[str], what: str, packages: Sequence[Path] = ()) -> list[str]:
        """Runs a module to its end, and returns the lines of its log.

        Raises:
            CheckFailedError: It fails, or does not end in time.
        """
        process, log = self.launch(name, arguments, {}, packages)
        if status := self.wait(process, what):
            raise CheckFailedError(f"{what} exits with {status}: {first_error(log)}")
        return log.read_text().splitlines()

    def wait_until(self, condition: Callable[[], Found], what: str) -> Found:
        """Waits until the condition returns something true, and returns it.

        Raises:
            CheckFailedError: The time limit of the check has passed.
        """
        while not (found := condition()):
            if self.remaining <= 0:
                raise CheckFailedError(f"waited for {what}, and the limit of {self.seconds:g} s has passed")
            time.sleep(_POLL_SECONDS)
        return found

    def wait(self, process: Process, what: str) -> int:
        """Waits for the end of a program, and returns its exit status."""
        self.wait_until(lambda: process.poll() is not None, f"the end of {what}")
        status = process.poll()
        assert status is not None
        return status

    def output(self, *command: str) -> str:
        """Runs a program and returns its output.

        Raises:
            CheckFailedError: The program fails, or does not end in time.
        """
        try:
            limit = max(self.remaining, 1)
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            raise CheckFailedError(f"{command[0]} does not end within {limit:.0f} s") from None
        if done.returncode:
            raise CheckFailedError(f"{' '.join(command)} fails: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    @property
    def remaining(self) -> float:
        """The seconds until the time limit."""
        return self._begun + self.seconds - time.monotonic()


def first_error(log: Path) -> str:
    """Returns the first error in a log; its last line if none looks like one."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    # torchrun puts the name of a rank in front of its lines.
    found = next((match[0] for line in lines if (match := _ERROR.search(line))), None)
    return (found or (lines[-1] if lines else "no output"))[:_MESSAGE_CHARACTERS]
