"""The linter on one input, in a process of its own: its exit status, time and memory.

The time is that of the processor in the child, which has all modules imported, for user and system. The budget is for
each MiB begun: a file of one kilobyte has the budget of one MiB, because values render a chart, which takes up to half
a second whatever their length.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from trainyard.__main__ import main as lint

SECONDS_PER_MIB = 1.0
MOST_MIB = 256
# Clean, mistakes found, and a file that could not be judged.
EXPECTED = (0, 1, 3)
# A process that takes this many times its budget is ended.
_PATIENCE = 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """The linter's behaviour with an input. `fault` is empty if all of it is as promised."""

    seconds: float
    mib: float
    fault: str


def judge(file: Path, output: Path) -> Verdict:
    """Lints `file` with all rules; its output goes to the file `output`."""
    budget = SECONDS_PER_MIB * max(1, math.ceil(file.stat().st_size / (1 << 20)))
    child = os.fork()
    if not child:
        _lint(file, output, budget)
    _, status, used = os.wait4(child, 0)
    seconds, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return Verdict(seconds, mib, _fault(os.waitstatus_to_exitcode(status), seconds, mib, budget, output))


def _fault(status: int, seconds: float, mib: float, budget: float, output: Path) -> str:
    said = output.read_bytes()
    if status == -signal.SIGXCPU:
        return f"was ended after {seconds:.0f} s"
    if status not in EXPECTED:
        return f"exit status {status}"
    if b"Traceback (most recent call last)" in said:
        return "a traceback"
    if seconds > budget:
        return f"{seconds:.2f} s of processor time instead of {budget:g} s"
    if mib > MOST_MIB:
        return f"{mib:.0f} MiB instead of {MOST_MIB} MiB"
    return ""


def _lint(file: Path, output: Path, budget: float) -> NoReturn:
    seconds = int(budget * _PATIENCE)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with output.open("wb") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)
    sys.argv = ["trainyard", "lint", "--pedantic", "--auditor", str(file)]
    status = 70
    try:
        status = lint()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
