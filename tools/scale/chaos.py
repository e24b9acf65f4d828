"""Nodes that fail, drain and return under runs: no run may be lost, and nothing may be left behind."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tools.scale import nodes, workloads
from tools.scale.control_plane import ControlPlane
from tools.scale.workloads import NAMESPACE, PYTORCHJOB, TRAINJOB, Workload

SEED = 11
RUNS, PODS = 25, 5
RECOVERY_SECONDS = 400
KINDS = {PYTORCHJOB: "pytorchjobs", TRAINJOB: "trainjobs"}


@dataclass
class Chaos:
    """The events by kind, and what is left of the runs afterwards."""

    runs: int
    events: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    orphans: int = 0
    complete: bool = False


def measure(plane: ControlPlane, count: int, events: int, report: Callable[[str], None]) -> Chaos:
    """Start runs of both kinds, cause events, and compare the pods of the runs afterwards."""
    runs = min(RUNS, count // (3 * PODS))
    loads = [Workload(kind, runs, PODS, (("layout", "worker-only"),) if kind == PYTORCHJOB else ()) for kind in KINDS]
    chaos = Chaos(runs * len(loads))
    found = []
    for load in loads:
        text = json.dumps(list(workloads.rendered(plane, load)))
        # Both kinds have runs of the same names.
        found += json.loads(text.replace("run-0", f"{load.kind.lower()[0]}-0"))
    with workloads.removed(plane, *loads):
        plane.create(found)
        wanted = chaos.runs * PODS
        api.wait_until(lambda: workloads.running(plane) == wanted, what="the runs to start", seconds=RECOVERY_SECONDS)
        down = _cause(plane, count, events, chaos, report)
        for number, event in down.items():
            _return(plane, number, event)
        try:
            api.wait_until(lambda: _settled(plane, wanted), what="the runs to recover", seconds=RECOVERY_SECONDS)
            chaos.complete = True
        except ClusterError as error:
            report(error.message)
        chaos.lost, chaos.orphans = chaos.runs - _alive(plane, loads), _listed(plane) - wanted
    return chaos


def _cause(plane: ControlPlane, count: int, events: int, chaos: Chaos, report: Callable[[str], None]) -> dict[int, str]:
    """Cause events one after the other, and return the nodes that are away at the end."""
    dice = random.Random(SEED)  # noqa: S311
    down: dict[int, str] = {}
    for number in range(events):
        if down and (len(down) > count // 10 or dice.random() < 0.4):
            node = dice.choice(list(down))
            _return(plane, node, down.pop(node))
            chaos.events["returns"] += 1
            continue
        # A node without a run would prove nothing.
        node = dice.choice(sorted(_used(plane) - set(down)))
        event = dice.choice(("failures", "drains"))
        if event == "failures":
            # What a cloud does with a machine that does not answer.
            plane.kubectl("delete", "node", nodes.name(node))
        else:
            plane.kubectl("drain", nodes.name(node), "--force", "--delete-emptydir-data", "--timeout=60s")
        down[node] = event
        chaos.events[event] += 1
        if number % 20 == 0:
            report(f"{number} of {events} events, {workloads.running(plane)} pods Running")
    return down


def _return(plane: ControlPlane, number: int, event: str) -> None:
    if event == "failures":
        nodes.create(plane, range(number, number + 1), wait=False)
    else:
        plane.kubectl("uncordon", nodes.name(number))


def _pods(plane: ControlPlane) -> list[tuple[str, int]]:
    """Return the phase and the node of each pod."""
    path = '{range .items[*]}{.status.phase}{" "}{.spec.nodeName}{"\\n"}{end}'
    words = ("--selector=!filler", f"--namespace={NAMESPACE}", f"--output=jsonpath={path}")
    lines = plane.kubectl("get", "pods", *words).splitlines()
    found = [line.split() for line in lines]
    return [(word[0], int(word[1].rpartition("-")[2]) if len(word) > 1 else -1) for word in found]


def _listed(plane: ControlPlane) -> int:
    return len(_pods(plane))


def _used(plane: ControlPlane) -> set[int]:
    return {node for phase, node in _pods(plane) if phase == "Running"}


def _settled(plane: ControlPlane, wanted: int) -> bool:
    """Returns true if exactly the wanted pods exist, all Running on nodes that exist."""
    known = {int(name.rpartition("-")[2]) for name in plane.kubectl("get", "nodes", "--output=name").split()}
    found = _pods(plane)
    return len(found) == wanted and all(phase == "Running" and node in known for phase, node in found)


def _alive(plane: ControlPlane, loads: list[Workload]) -> int:
    """Return the number of jobs that exist and have not failed."""
    path = '{range .items[*]}{.status.conditions[?(@.status=="True")].type}{"\\n"}{end}'
    alive = 0
    for load in loads:
        text = plane.kubectl("get", KINDS[load.kind], f"--namespace={NAMESPACE}", f"--output=jsonpath={path}")
        alive += sum("Failed" not in line for line in text.splitlines())
    return alive
