"""Runs checks one after another. None of them stops the others, and none of their programs outlives them."""

from __future__ import annotations

import importlib.util
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tools.gpu.check import Check, Outcome, Result
from tools.gpu.errors import CheckFailedError, NotRunError
from tools.gpu.machine import Machine
from tools.gpu.session import Session, Start, start_python
from trainyard.commands.local.descendants import Descendants


class Runner:
    """Runs checks on one machine.

    Args:
        machine: The machine.
        output: The folder for the logs of failed checks; `logs/NAME` there belongs to one check.
        start: Starts a program.
        libnccl: The library of NCCL to read instead of PyTorch's.
    """

    def __init__(self, machine: Machine, output: Path, *, start: Start = start_python, libnccl: str = "") -> None:
        self._machine = machine
        self._logs = output / "logs"
        self._start = start
        self._libnccl = libnccl
        self._shared: dict[str, list[float]] = {}

    def run(self, checks: Iterable[Check], on_start: Callable[[Check], None]) -> Iterator[Result]:
        """Runs the checks and yields the end of each."""
        for check in checks:
            on_start(check)
            yield self._run(check)

    def _run(self, check: Check) -> Result:
        if reason := self._lacking(check):
            return Result(check, Outcome.NOT_RUN, 0.0, reason)
        folder = self._logs / check.name
        # Files of an earlier call would be taken for those of this one.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        programs = Descendants()
        session = Session(
            self._machine,
            folder.resolve(),
            check.seconds,
            self._shared,
            start=self._start,
            libnccl=self._libnccl,
            end_programs=programs.kill,
        )
        begun = time.monotonic()
        try:
            outcome, reason, measured = self._outcome(check, session)
        finally:
            programs.kill()
            programs.leave()
        seconds = time.monotonic() - begun
        if outcome is not Outcome.FAILED:
            shutil.rmtree(folder)
        log = folder if outcome is Outcome.FAILED else None
        return Result(check, outcome, seconds, reason, measured, log)

    @staticmethod
    def _outcome(check: Check, session: Session) -> tuple[Outcome, str, dict[str, float | int | str]]:
        try:
            return Outcome.PASSED, "", dict(check.run(session))
        except NotRunError as error:
            return Outcome.NOT_RUN, str(error), {}
        except CheckFailedError as error:
            return Outcome.FAILED, str(error), {}
        # A mistake in one check must not keep the others from running.
        except Exception as error:
            return Outcome.FAILED, f"the check itself fails: {type(error).__name__}: {error}", {}

    def _lacking(self, check: Check) -> str:
        """Returns what the machine lacks for the check; empty if nothing."""
        if self._machine.device == "cpu" and not check.rehearsed:
            return "needs a GPU"
        if self._machine.device == "cuda" and self._machine.gpus < check.gpus:
            return f"needs {check.gpus} GPUs, and this machine has {self._machine.gpus}"
        missing = [package for package in check.packages if importlib.util.find_spec(package) is None]
        return f"needs the package {', '.join(missing)}" if missing else ""
