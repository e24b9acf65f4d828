"""The parts that a first demo builds: announced with time, disk space and logs, and counted while they are built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster import cache, host, progress, tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.images import node, system, trainer

# Seconds of each build on 2 idle cores.
TOOLS = {
    "pause": 2,
    "kind": 20,
    "kubernetes": 420,
    "etcd": 60,
    "coredns": 20,
    "cni-plugins": 25,
    "local-path-provisioner": 40,
    "multus": 60,
    "whereabouts": 45,
    "helm": 60,
}
SYSTEMS = {node.DEBIAN: 90, system.BASE: 45, trainer.IMAGE.debian: 150}
TRAINER_SECONDS = 90
# Of the controllers, a demo builds those of its kind of run.
OPERATOR, KUBEFLOW_TRAINER = "training-operator", "kubeflow-trainer"
CONTROLLERS = {OPERATOR: 90, KUBEFLOW_TRAINER: 90}


@dataclass(frozen=True)
class Part:
    """A build: the title of its step, its usual duration, and its entry in the cache."""

    title: str
    seconds: int
    entry: Path


def parts(controllers: str = OPERATOR) -> list[Part]:
    """Return the parts of a demo with these controllers, whose node image comes from package registries."""
    binaries = {**TOOLS, controllers: CONTROLLERS[controllers]}
    return [
        *(Part(tools.title(name), seconds, tools.entry(name)) for name, seconds in binaries.items()),
        *(Part(debian.title, seconds, debian.entry) for debian, seconds in SYSTEMS.items()),
        Part(trainer.IMAGE.title, TRAINER_SECONDS, trainer.IMAGE.entry),
    ]


@contextmanager
def announced(cluster: Cluster, controllers: str = OPERATOR) -> Iterator[None]:
    """Say what is missing and what it takes, and count the parts while the body builds them."""
    folder = host.prepare_cache()
    needed = parts(controllers)
    missing = [part for part in needed if not part.entry.exists()]
    if missing:
        host.require_disk_space(cluster.folder)
        count = f"{len(missing)} of {len(needed)} parts are built now and kept in {folder}"
        minutes = progress.minutes(sum(part.seconds for part in missing))
        progress.console.print(f"{count}: {minutes} on 2 cores, unless a registry has the node image.")
        free = host.free_space(cluster.folder) / host.GIB
        progress.console.print(f"Disk: {host.NEEDED_FREE / host.GIB:.0f} GiB needed, {free:.0f} GiB free.")
    progress.console.print(f"Logs: {cache.root() / 'logs'}")
    with progress.counted({part.title: part.seconds for part in missing}):
        yield
