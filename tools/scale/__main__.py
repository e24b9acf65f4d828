"""`make scale`: simulate a thousand nodes, and write docs/scale.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from tests.harness.cluster import cache, progress
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.progress import console
from tools.scale import chaos, control_plane, measuring, nodes, operators, page, placement, queueing, sizes, workloads
from tools.scale.control_plane import RAISED, ControlPlane
from tools.scale.page import Results
from tools.scale.processes import running
from tools.scale.scenarios import SIDES, Scenario, scenarios

IDLE_SECONDS = 10
START_SECONDS = 300
EVENTS = 100


def command(
    count: Annotated[int, typer.Option("--nodes", help="Number of nodes, and of pods of the largest run.")] = 1000,
    most: Annotated[int, typer.Option(help="Number of nodes of a cluster that is measured idle at the end.")] = 5000,
    write: Annotated[bool, typer.Option("--write/--no-write", help="Write docs/scale.md.")] = True,
) -> None:
    """Measure how long runs take to start on a simulated cluster, and what its components use."""
    results = Results(count, os.getloadavg()[1])
    with cache.scratch(f"scale-{os.getpid()}") as folder, running(folder) as processes:
        with progress.step("starting the control plane"):
            plane = control_plane.start(folder, processes, RAISED)
        _add_nodes(plane, range(count), results)
        workloads.prepare(plane)
        _measure_starts(plane, results)
        with _attempt("measuring sizes"):
            results.sizes = list(sizes.sizes(plane, count))
        with _attempt(f"causing {EVENTS} events under runs"):
            results.chaos = chaos.measure(plane, count, EVENTS, console.print)
        with _attempt("admitting queued runs"):
            queueing.install(plane, count)
            results.admissions.extend(queueing.admissions(plane, count, console.print))
        with _attempt("placing a run on a cluster in use"):
            results.placements = list(placement.measure(plane, count, console.print))
        if most > count:
            with _attempt(f"adding nodes up to {most:,}"):
                _add_nodes(plane, range(count, most), results)
    for line in page.lines(results):
        print(line)
    if write:
        page.write(results)


@contextmanager
def _attempt(title: str) -> Iterator[None]:
    """Report an error and go on: the other measurements are worth having all the same."""
    try:
        with progress.step(title):
            yield
    except ClusterError as error:
        progress.report(error)


def _add_nodes(plane: ControlPlane, numbers: range, results: Results) -> None:
    with progress.step(f"creating nodes up to {numbers.stop:,}"):
        if "kwok" not in plane.processes.names:
            nodes.start(plane)
        nodes.create(plane, numbers)
    with progress.step("measuring the idle cluster"):
        results.idle[numbers.stop] = measuring.idle(plane, IDLE_SECONDS)


def _measure_starts(plane: ControlPlane, results: Results) -> None:
    before: Scenario | None = None
    found = list(scenarios(results.nodes))
    for number, scenario in enumerate(found, 1):
        if before is None or scenario.limits is not before.limits:
            control_plane.start_clients(plane, scenario.limits)
        if scenario.side and (before is None or scenario.side != before.side):
            with progress.step(f"starting the operators with the settings of {scenario.side}"):
                for release, settings in zip(
                    (operators.TRAINING_OPERATOR, operators.TRAINER), SIDES[scenario.side], strict=True
                ):
                    operators.install(plane, release, settings)
        sides = f"{scenario.side or 'no'} operator, {scenario.limits.name} control plane"
        title = f"{number} of {len(found)}: {scenario.what}, {sides}"
        timing = None
        with _attempt(title):
            timing = workloads.measure(plane, scenario.workload, seconds=START_SECONDS, report=console.print)
        results.starts.append((scenario, timing))
        console.print(page.summary(timing))
        before = scenario


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
