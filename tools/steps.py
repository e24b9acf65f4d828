"""Runs the steps of `make test` and `make check`: those that wait for a cluster beside those that compute.

A step is a make target. Its output goes to a log, and to the terminal as a whole when it fails, so that lines of steps
that run at the same time do not mix. A table of where the time went ends the run.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tests.harness import processors
from tests.harness.cluster import cache, go_build_cache
from tests.harness.cluster.command import INTERRUPTED, exit_status
from tests.harness.cluster.progress import console

POLL_SECONDS = 0.2
# An interrupted step removes its containers before it ends.
END_SECONDS = 60
# Builds and checks take the processor time that a cluster leaves.
BUILD, CHECKS = 2, 7


@dataclass(frozen=True)
class Step:
    """A make target: `needs` are steps that must have passed before it, `after` those that must only have ended.

    `builds` is true for a step that compiles Go programs, and so needs Go's build cache.
    """

    target: str
    needs: Sequence[str] = ()
    after: Sequence[str] = ()
    nice: int = 0
    builds: bool = False


class Outcome(StrEnum):
    """The end of a step."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "not run"


@dataclass(frozen=True)
class Result:
    """The cost of a step: `start` counts from the beginning of the run; containers' processor time is not in it.

    `idle` is the share of the machine's processor time that nothing used while the step ran. Many idle processors mean
    that the steps wait; few mean that only less work makes them faster.
    """

    target: str
    outcome: Outcome
    start: float = 0
    seconds: float = 0
    processor_seconds: float = 0
    idle: float = 0
    tests: str = ""


SETUP = Step("setup")
# The cluster's programs come first: nothing waits as long as the tests on it.
TOOLS = Step("tools", after=("e2e-cluster",), nice=BUILD, builds=True)
CHECK = (
    Step("lint", needs=("setup",), nice=CHECKS),
    Step("docs", needs=("setup",), nice=CHECKS),
    Step("verify", needs=("setup", "tools"), nice=CHECKS),
    Step("unit", needs=("setup", "tools"), nice=CHECKS),
)
CLUSTER = (
    Step("e2e-cluster", builds=True),
    Step("images", nice=BUILD, builds=True),
    Step("e2e-shared", needs=("setup", "e2e-cluster")),
    # On its own cluster, which the node image of the first one starts.
    Step("e2e-alone", needs=("setup", "e2e-cluster")),
    Step(
        "e2e-idle",
        needs=("setup", "e2e-cluster"),
        # Not after the checks, which take little from it: their `nice` is for that.
        after=("images", "tools", "e2e-shared", "e2e-alone"),
    ),
)
GOALS = {"check": (SETUP, TOOLS, *CHECK), "e2e": (SETUP, *CLUSTER, TOOLS), "test": (SETUP, *CLUSTER, TOOLS, *CHECK)}


@dataclass
class Running:
    """A step that has been started: the leader of its own process group."""

    step: Step
    process: subprocess.Popen[bytes]
    log: Path
    start: float = field(default_factory=time.monotonic)
    busy: float = field(default_factory=processors.busy_seconds)


def run(steps: Sequence[Step], *, make: Sequence[str] = ("make", "--no-print-directory")) -> list[Result]:
    """Run every step as soon as those before it allow; one that fails keeps only those from running that need it."""
    began = time.monotonic()
    waiting = list(steps)
    running: list[Running] = []
    results: dict[str, Result] = {}
    with _ends_all(running) as interrupted, ExitStack() as build_cache:
        build_cache.callback(go_build_cache.drop)
        build_cache.enter_context(go_build_cache.wanted())
        while waiting or running:
            if interrupted:
                raise KeyboardInterrupt
            for step in [step for step in waiting if _is_ready(step, steps, results)]:
                waiting.remove(step)
                if all(results[name].outcome is Outcome.PASSED for name in step.needs if name in results):
                    running.append(_start(step, make))
                else:
                    results[step.target] = Result(step.target, Outcome.SKIPPED)
            for one in list(running):
                if (result := _ended(one, began)) is not None:
                    running.remove(one)
                    results[one.step.target] = result
                    _report(result, one.log)
            if not any(step.builds for step in (*waiting, *(one.step for one in running))):
                build_cache.close()
            time.sleep(POLL_SECONDS)
    return [results[step.target] for step in steps]


def _is_ready(step: Step, steps: Sequence[Step], results: dict[str, Result]) -> bool:
    known = {other.target for other in steps}
    return all(name in results for name in (*step.needs, *step.after) if name in known)


def _start(step: Step, make: Sequence[str]) -> Running:
    log = cache.log_path(f"step-{step.target}")
    console.print(f"… {step.target} [dim]({log})[/]")
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["nice", "-n", str(step.nice), *make, step.target],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A make with -j would offer its jobs to steps that are no part of it.
            env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
            start_new_session=True,
        )
    # Linux may schedule by session: between sessions, `nice` has no effect, but this file has (man 7 sched, autogroup).
    with suppress(OSError):
        Path(f"/proc/{process.pid}/autogroup").write_text(str(step.nice))
    return Running(step, process, log)


def _ended(running: Running, began: float) -> Result | None:
    pid, status, usage = os.wait4(running.process.pid, os.WNOHANG)
    if pid == 0:
        return None
    running.process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - running.start
    busy = processors.busy_seconds() - running.busy
    return Result(
        running.step.target,
        Outcome.FAILED if running.process.returncode else Outcome.PASSED,
        running.start - began,
        seconds,
        usage.ru_utime + usage.ru_stime,
        processors.idle_share(busy, seconds),
        _tests(running.log.read_text(errors="replace")),
    )


def _tests(output: str) -> str:
    """The last line of each session of pytest, without its times."""
    ends = re.findall(r"^=+ (.*\d+ (?:passed|failed|error).*?) in [\d.]+s", output, re.MULTILINE)
    return "; ".join(ends)


def _report(result: Result, log: Path) -> None:
    sign = "[green]✓[/]" if result.outcome is Outcome.PASSED else "[red]✗[/]"
    if result.outcome is Outcome.FAILED:
        console.rule(f"{result.target}: {log}")
        console.print(log.read_text(errors="replace"), markup=False)
        console.rule()
    console.print(f"{sign} {result.target} [dim]({result.seconds:.0f} s)[/] {result.tests}")


@contextmanager
def _ends_all(running: list[Running]) -> Iterator[list[int]]:
    """Leave no process behind, however the run ends; the signals that ask for its end are put into a list.

    They raise nothing, because a step that has just been started is not yet among those `running`.
    """
    asked: list[int] = []
    # SIGINT, too: a process in the background ignores it, and so would every step.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    kept = {number: signal.signal(number, lambda number, _: asked.append(number)) for number in numbers}
    try:
        yield asked
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        for one in running:
            os.killpg(one.process.pid, signal.SIGINT)
        deadline = time.monotonic() + END_SECONDS
        for one in running:
            with suppress(subprocess.TimeoutExpired):
                one.process.wait(max(0, deadline - time.monotonic()))
            # What a shell has put into the background ignores SIGINT.
            with suppress(ProcessLookupError):
                os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


def table(results: Sequence[Result], seconds: float) -> Table:
    """Where the time went, in the order in which the steps began."""
    shown = Table(title=f"{seconds / 60:.1f} minutes", title_justify="left")
    shown.add_column("step")
    for name in ("began at", "seconds", "processor", "idle"):
        shown.add_column(name, justify="right")
    shown.add_column("outcome")
    for result in sorted(results, key=lambda result: result.start):
        times = (result.start, result.seconds, result.processor_seconds)
        words = [result.outcome, *([result.tests] if result.tests else [])]
        shown.add_row(result.target, *(f"{time:.0f}" for time in times), f"{result.idle:.0%}", ", ".join(words))
    return shown


def command(goal: Annotated[str, typer.Argument(help=f"One of: {', '.join(GOALS)}.")]) -> None:
    """Run the steps of a goal and show where the time went; exit 1 when one has failed."""
    if goal not in GOALS:
        raise typer.BadParameter(f"{goal!r} is none of {', '.join(GOALS)}")
    began = time.monotonic()
    try:
        results = run(GOALS[goal])
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    console.print(table(results, time.monotonic() - began))
    if failed := [result.target for result in results if result.outcome is not Outcome.PASSED]:
        console.print(f"[bold red]not passed:[/] {', '.join(failed)}")
        raise typer.Exit(1)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
