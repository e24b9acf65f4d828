"""`python -m tests.faults`, or `make faults`: each fault on a run of ours and on a stock PyTorchJob, as a table."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console

from tests import measured
from tests.cluster import api, lifecycle, progress
from tests.cluster.cluster import Cluster
from tests.cluster.command import exit_status
from tests.cluster.errors import ClusterError
from tests.jobs import operator

from . import faults, table
from .measure import measure
from .runners import RUNNERS

DEFAULT_NAME = "trainyard-faults"


def command(
    only: Annotated[list[str] | None, typer.Option(help="Only this fault; may be repeated.")] = None,
    runner: Annotated[list[str] | None, typer.Option(help="ours or stock; may be repeated.")] = None,
    name: Annotated[str, typer.Option(help="The cluster's name.")] = DEFAULT_NAME,
    quick: Annotated[bool, typer.Option("--quick", help="Take the API server away for 30 s, not for 2 min.")] = False,
) -> None:
    """Measure what faults cost, on a cluster that stays; what an earlier call has measured stays in the table."""
    known = {fault.name: fault for fault in faults.all_faults(quick=quick)}
    if wrong := (set(only or []) - set(known)) | (set(runner or []) - set(RUNNERS)):
        raise ClusterError(f"there is no {', '.join(wrong)}", hint=f"one of {', '.join([*known, *RUNNERS])}")
    cluster = Cluster(name)
    engine = lifecycle.up(cluster)
    operator.install(cluster, engine)
    for fault in [known[name] for name in only or known]:
        for compared in [RUNNERS[name] for name in runner or ("ours", "stock")]:
            with progress.step(f"{fault.what}: {compared.name}"):
                lifecycle.up(cluster)
                # It may have been on a node that was stopped.
                operator.wait_available(cluster)
                try:
                    result = measure(cluster, engine, fault, compared)
                except ClusterError as error:
                    # The others are worth having all the same.
                    progress.report(error)
                    continue
            table.keep(result)
            progress.console.print(str(result))
    _show(list(known.values()), cluster)


def _show(known: list[faults.Fault], cluster: Cluster) -> None:
    results = table.kept()
    found = table.rows(known, results)
    Console().print(table.on_terminal(found))
    server = json.loads(api.kubectl(cluster.kubeconfig, "version", "--output=json"))["serverVersion"]["gitVersion"]
    where = measured.where(f"kind's Kubernetes {server}", command="make faults")
    table.write_page(found, table.reasons(known, results), where)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
