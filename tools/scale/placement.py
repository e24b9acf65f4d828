"""The racks that a run spans on a cluster that others partly use: default scheduling, the chart's colocation, Kueue."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tests.harness.cluster import api
from tools.scale import nodes, queueing, workloads
from tools.scale.control_plane import ControlPlane
from tools.scale.workloads import NAMESPACE, PYTORCHJOB, Workload

SEED = 7
# Share of the nodes that other runs hold.
TAKEN = 0.4
SIZE = 64
SECONDS = 120
DEFAULT = (("layout", "worker-only"), ("placement.spread", "none"))


def _colocated(level: str) -> tuple[tuple[str, object], ...]:
    # Required colocation would leave the pods Pending that no longer fit into the rack of the first.
    return (
        ("placement.colocate.level", level),
        ("placement.colocate.mode", "preferred"),
        ("placement.colocate.weight", 100),
    )


def _queued(level: str) -> tuple[tuple[str, object], ...]:
    return (
        *queueing.QUEUED,
        ("scheduling.queue.topology.level", level),
        ("scheduling.queue.topology.mode", "preferred"),
    )


SETTINGS = {
    "default scheduling": DEFAULT,
    "colocation by rack, preferred": (*DEFAULT, *_colocated(nodes.RACK)),
    "colocation by block, preferred": (*DEFAULT, *_colocated(nodes.BLOCK)),
    "Kueue, topology by rack, preferred": (*DEFAULT, *_queued(nodes.RACK)),
    "Kueue, topology by block, preferred": (*DEFAULT, *_queued(nodes.BLOCK)),
}


@dataclass(frozen=True)
class Placement:
    """The racks and blocks that hold the pods of a run, and the fewest racks that could."""

    what: str
    pods: int
    racks: int
    blocks: int
    fewest: int


def measure(plane: ControlPlane, count: int, report: Callable[[str], None]) -> Iterator[Placement]:
    """Place a run of `SIZE` nodes, or of a quarter of a smaller cluster, with each setting."""
    taken = random.Random(SEED).sample(range(count), int(count * TAKEN))  # noqa: S311
    size = min(SIZE, count // 4)
    api.apply(plane.kubeconfig, *map(_filler, taken))
    for what, settings in SETTINGS.items():
        workload = Workload(PYTORCHJOB, 1, size, settings)
        used: list[int] = []
        workloads.measure(plane, workload, seconds=SECONDS, report=report, inspect=partial(_record, plane, used))
        racks = {number // nodes.PER_RACK for number in used}
        blocks = {rack // nodes.RACKS_PER_BLOCK for rack in racks}
        yield Placement(what, size, len(racks), len(blocks), fewest(set(range(count)) - set(taken), size))
    plane.kubectl("delete", "pods", "--selector=filler", f"--namespace={NAMESPACE}", "--wait=false")


def fewest(free: set[int], size: int) -> int:
    """Return the smallest number of racks whose free nodes hold a run of this size.

    >>> fewest({0, 1, 2, 16, 17, 32}, 5)
    2
    """
    racks: dict[int, int] = {}
    for number in free:
        racks[number // nodes.PER_RACK] = racks.get(number // nodes.PER_RACK, 0) + 1
    held = 0
    for count, room in enumerate(sorted(racks.values(), reverse=True), 1):
        held += room
        if held >= size:
            return count
    return len(racks)


def _filler(number: int) -> dict[str, object]:
    container = {"name": "other", "image": "registry.example.com/other", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"filler-{number}", "namespace": NAMESPACE, "labels": {"filler": ""}},
        "spec": {"nodeName": nodes.name(number), "containers": [container]},
    }


def _record(plane: ControlPlane, used: list[int]) -> None:
    used += _used(plane)


def _used(plane: ControlPlane) -> list[int]:
    path = "jsonpath={.items[*].spec.nodeName}"
    names = plane.kubectl("get", "pods", "--selector=!filler", f"--namespace={NAMESPACE}", f"--output={path}")
    return [int(name.rpartition("-")[2]) for name in names.split()]
