"""`python -m tools.faults.spare`: the cost of a killed pod for a run of ours with and without a spare pod, in turns.

A third pod of a run of at most two waits in the rendezvous, with PyTorch imported. torchrun keeps it in its redundancy
list, and takes it when a node is gone (torch, distributed/elastic/rendezvous/dynamic_rendezvous.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tests.harness.cluster import api, lifecycle
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import operator
from tools.faults import timeline
from tools.faults.control_plane import replace_operator
from tools.faults.faults import POD_KILLED
from tools.faults.measure import measure
from tools.faults.runners import NODES, Ours
from tools.faults.sandbox import Sandbox, remove_leftovers

WAIT_SECONDS = 180
SPARE_POD = f"{Ours.name}-worker-{NODES}"
# An established connection to the port of the endpoint, in the kernel's table.
CONNECTED = """
port=$(printf ':%04X 01' "${PET_RDZV_ENDPOINT##*:}")
cat /proc/net/tcp /proc/net/tcp6 | grep -q "$port"
"""


class OnSharedNodes(Ours):
    """The run of the table, whose pods may share a node: the cluster has only two."""

    def settings(self, sandbox: Sandbox) -> dict[str, object]:
        """Return the values of the release."""
        return super().settings(sandbox) | {"placement.spread": "none"}


class WithSparePod(OnSharedNodes):
    """The same run with one pod more than it trains with."""

    def install(self, sandbox: Sandbox) -> None:
        """Install the release, and add the spare pod once two others train: the first two pods do."""
        super().install(sandbox)
        _wait(lambda: any(event.world_size == NODES for event in timeline.read(sandbox.events)), "a run of two pods")
        sandbox.kubectl("scale", f"pytorchjob/{self.name}", f"--replicas={NODES + 1}")
        _wait(lambda: _is_connected(sandbox), "the spare pod to join the rendezvous")


def command(
    rounds: Annotated[int, typer.Option(help="Measurements of each.", min=1)] = 3,
    name: Annotated[str, typer.Option(help="The cluster's name.")] = "trainyard-faults",
) -> None:
    """Print the seconds without a step, and until two pods train again, after a pod was killed."""
    cluster = Cluster(name)
    engine = lifecycle.up(cluster)
    operator.install(cluster, engine)
    remove_leftovers(cluster, engine)
    print("| spare pods | s without steps | s until both pods train | steps lost |\n| --- | --- | --- | --- |")
    for _ in range(rounds):
        for spares, runner in enumerate((OnSharedNodes(), WithSparePod())):
            _measure(cluster, engine, spares, runner)


def _measure(cluster: Cluster, engine: Engine, spares: int, runner: Ours) -> None:
    replace_operator(cluster)
    found = measure(cluster, engine, POD_KILLED, runner)
    if found.paused is None or found.recovered is None:
        raise ClusterError(f"the run with {spares} spare pods did not recover: {found.reason}")
    print(f"| {spares} | {found.paused:.1f} | {found.recovered:.1f} | {found.steps_lost} |", flush=True)


def _wait(condition: Callable[[], bool], what: str) -> None:
    api.wait_until(condition, what=what, seconds=WAIT_SECONDS)


def _is_connected(sandbox: Sandbox) -> bool:
    try:
        sandbox.kubectl("exec", SPARE_POD, "--", "sh", "-c", CONNECTED)
    except ClusterError:  # it has not started yet, or not connected
        return False
    return True


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
