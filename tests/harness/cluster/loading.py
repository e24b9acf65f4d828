"""Load images onto a cluster's nodes, so that pods need no registry."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster import cache, go_build_cache, host, layers, progress
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.images import (
    alertmanager,
    device_plugin,
    fetcher,
    frameworks,
    health,
    networks,
    system,
    titan,
    trainer,
)
from tests.harness.cluster.tools import binary


@dataclass(frozen=True)
class Loadable:
    """An image that the harness builds: its reference, and the function that returns its archive."""

    reference: Callable[[], str]
    archive: Callable[[], Path]
    # Only `make long` needs it.
    is_long: bool = False


OURS = {
    "trainer": Loadable(trainer.IMAGE.reference, trainer.IMAGE.archive),
    "frameworks": Loadable(frameworks.IMAGE.reference, frameworks.IMAGE.archive),
    "tensorflow": Loadable(frameworks.TENSORFLOW.reference, frameworks.TENSORFLOW.archive),
    "titan": Loadable(titan.IMAGE.reference, titan.IMAGE.archive, is_long=True),
    "node-health": Loadable(health.IMAGE.reference, health.IMAGE.archive),
    "fetcher": Loadable(fetcher.reference, fetcher.archive),
    "alertmanager": Loadable(alertmanager.reference, alertmanager.archive),
    "device-plugin": Loadable(device_plugin.reference, device_plugin.archive),
    "operator": Loadable(lambda: system.reference(system.OPERATOR), lambda: system.archive(system.TOOLS)),
    "kubectl-delivery": Loadable(
        lambda: system.reference(system.KUBECTL_DELIVERY), lambda: system.archive(system.TOOLS)
    ),
    **{
        name: Loadable(functools.partial(system.reference, name), functools.partial(system.archive, (name,)))
        for name in (system.MPI_OPERATOR, system.PROMETHEUS, system.SCHEDULER_PLUGINS)
    },
    **{
        name: Loadable(functools.partial(networks.reference, name), functools.partial(networks.archive, name))
        for name in networks.PROGRAMS
    },
    **{
        name: Loadable(functools.partial(system.reference, name), lambda: system.archive(system.KUBEFLOW_TRAINER))
        for name in system.KUBEFLOW_TRAINER
    },
    **{
        name: Loadable(functools.partial(system.reference, name), lambda: system.archive(system.VOLCANO), is_long=True)
        for name in system.VOLCANO
    },
    **{
        name: Loadable(
            functools.partial(system.reference, name), functools.partial(system.archive, (name,)), is_long=True
        )
        for name in (system.METRICS_SERVER, system.KUBE_STATE_METRICS)
    },
    "storage": Loadable(lambda: system.reference(system.LOCAL_PATH), lambda: system.archive(system.TOOLS)),
    system.KUEUE: Loadable(lambda: system.reference(system.KUEUE), lambda: system.archive((system.KUEUE,))),
}


def build_all(*, install: bool = True) -> None:
    """Build every image that `make test` loads and the cache lacks, those of the first tests first."""
    host.require_programs(host.IMAGE_PACKAGES, install=install)
    for image in OURS.values():
        if not image.is_long:
            image.archive()
    go_build_cache.drop()


def load(cluster: Cluster, engine: Engine, what: str, nodes: Sequence[str] = ()) -> str:
    """Load an image: one of the harness's by name, an archive by path, or one of the engine's store by reference.

    Returns the image reference for the pod spec. The nodes are the workers by default; nodes that have the image are
    skipped.
    """
    nodes = nodes or cluster.workers
    if what in OURS:
        reference = OURS[what].reference()
        if _missing(cluster, engine, nodes, reference):
            # Several test processes may want the same image; only one loads it.
            with cache.lock(f"load-{cluster.name}"):
                if missing := _missing(cluster, engine, nodes, reference):
                    archive = OURS[what].archive()
                    add = layers.add if cluster.loaded.exists() else _import
                    with _step(reference, missing):
                        add(cluster, engine, archive, reference, missing)
        return reference
    path = Path(what)
    if path.is_file():
        reference = _first_reference(path)
        with _step(reference, nodes):
            _import(cluster, engine, path, reference, nodes)
        return reference
    if not engine.has_image(what):
        raise ClusterError(
            f"{what!r} is neither an image archive nor an image in {engine.command}'s store",
            hint=f"one of {', '.join(OURS)}; a path to an archive; or build the image with {engine.command} first",
        )
    with cache.lock("save-image"), cache.scratch("save-image") as folder:
        # A new file each time: `podman save` does not overwrite an archive.
        archive = folder / "image.tar"
        engine.run_logged("save", "--output", str(archive), what, log="save-image")
        with _step(what, nodes):
            _import(cluster, engine, archive, what, nodes)
    return what


def _step(title: str, nodes: Sequence[str]) -> AbstractContextManager[None]:
    return progress.step(f"loading {title} into {len(nodes)} node{'s' if len(nodes) > 1 else ''}")


def _import(cluster: Cluster, engine: Engine, archive: Path, _: str, nodes: Sequence[str]) -> None:
    progress.run(
        [
            *(binary("kind"), "load", "image-archive", archive),
            *("--name", cluster.name, "--nodes", ",".join(nodes)),
        ],
        log=f"load-{cluster.name}",
        environment=engine.kind_environment,
    )
    # The node needs only the unpacked layers; their archives take as much of its disk again.
    for node in nodes:
        cluster.check(engine, node, "ctr", "--namespace", "k8s.io", "content", "prune", "references")


def _missing(cluster: Cluster, engine: Engine, nodes: Sequence[str], reference: str) -> list[str]:
    if cluster.loaded.exists():
        return layers.missing(cluster, nodes, reference)
    listing = ("ctr", "--namespace", "k8s.io", "images", "list", "--quiet", f"name=={reference}")
    return [node for node in nodes if cluster.exec(engine, node, *listing).stdout.strip() != reference]


def _first_reference(archive: Path) -> str:
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile("manifest.json")
            assert member is not None
            return str(json.load(member)[0]["RepoTags"][0])
    except (tarfile.TarError, KeyError, IndexError, TypeError, ValueError) as error:
        raise ClusterError(
            f"{archive} is not an image archive that names an image",
            hint="make one with `docker save` or `podman save`",
        ) from error
