"""One check: what it needs, what it measures, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tools.gpu.session import Session

Measured = Mapping[str, float | int | str]


class Outcome(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Check:
    """A check.

    Attributes:
        name: Its name on the command line.
        what: What it does, in one line.
        bar: What must hold, with the reason.
        run: Does it and returns what it measured. Raises `CheckFailedError` or `NotRunError`.
        gpus: The GPUs that it needs; 0 if it needs none.
        packages: The Python packages that it needs beyond those of the trainer.
        rehearsed: True if it also runs on processors, with gloo.
        seconds: Its time limit.
    """

    name: str
    what: str
    bar: str
    run: Callable[[Session], Measured]
    gpus: int = 1
    packages: tuple[str, ...] = ()
    rehearsed: bool = False
    seconds: float = 300.0


@dataclass(frozen=True)
class Result:
    """The end of one check; `reason` says why it failed or did not run, and `log` is the folder of its logs."""

    check: Check
    outcome: Outcome
    seconds: float
    reason: str = ""
    measured: Measured = field(default_factory=dict)
    log: Path | None = None
