"""`python -m tools.faults`, or `make faults`: the cost of each fault for our run and for a stock PyTorchJob."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console

from tests.harness.cluster import api, lifecycle, progress
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import operator
from tools import results_page
from tools.faults import faults, record, table
from tools.faults.control_plane import replace_operator
from tools.faults.measure import measure
from tools.faults.runners import RUNNERS, Runner
from tools.faults.sandbox import remove_leftovers

DEFAULT_NAME = "trainyard-faults"


def command(
    only: Annotated[list[str] | None, typer.Option(help="Measure only this fault. Repeatable.")] = None,
    runner: Annotated[list[str] | None, typer.Option(help="Measure only this job: ours or stock. Repeatable.")] = None,
    measurements: Annotated[
        int, typer.Option(help="Measure so often. The table has the medians and ranges of the newest three.", min=1)
    ] = 1,
    name: Annotated[str, typer.Option(help="The cluster's name.")] = DEFAULT_NAME,
    quick: Annotated[bool, typer.Option("--quick", help="Stop the API server for 30 s instead of 2 min.")] = False,
) -> None:
    """Measure the cost of faults. The cluster stays up. The table also has results of earlier calls."""
    known = {fault.name: fault for fault in faults.all_faults(quick=quick)}
    if wrong := (set(only or []) - set(known)) | (set(runner or []) - set(RUNNERS)):
        raise ClusterError(f"there is no {', '.join(wrong)}", hint=f"one of {', '.join([*known, *RUNNERS])}")
    cluster = Cluster(name)
    engine = lifecycle.up(cluster)
    operator.install(cluster, engine)
    remove_leftovers(cluster, engine)
    for fault in [known[name] for name in only or known]:
        # In turns, so that another load of the machine slows down both.
        for compared in [RUNNERS[name] for name in runner or ("ours", "stock")] * measurements:
            _measure(cluster, engine, fault, compared)
    _show(list(known.values()), cluster)


def _measure(cluster: Cluster, engine: Engine, fault: faults.Fault, runner: Runner) -> None:
    with progress.step(f"{fault.what}: {runner.name}"):
        try:
            lifecycle.up(cluster)
            # The old pod may have been on a node that a fault stopped, or have lost the API server several times.
            replace_operator(cluster)
            result = measure(cluster, engine, fault, runner)
        except ClusterError as error:
            # The other measurements are worth having all the same.
            progress.report(error)
            return
    record.save_result(result)
    progress.console.print(str(result))


def _show(known: list[faults.Fault], cluster: Cluster) -> None:
    results = record.load_results()
    found = table.rows(known, results)
    Console().print(table.terminal_table(found))
    server = json.loads(api.kubectl(cluster.kubeconfig, "version", "--output=json"))["serverVersion"]["gitVersion"]
    versions = (f"kind's Kubernetes {server}", table.measurements(known, results), *table.period(record.days()))
    where = results_page.environment(*versions, command="make faults")
    table.write_page(found, table.reasons(known, results), where)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
