"""Put images on a cluster's nodes, where pods use them without a registry."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import cache, progress
from .cluster import Cluster
from .engine import Engine
from .errors import ClusterError
from .images import fetcher, frameworks, networks, system, trainer
from .tools import binary


@dataclass(frozen=True)
class Loadable:
    """An image that the harness itself builds: its reference and how its archive is had."""

    reference: Callable[[], str]
    archive: Callable[[], Path]


OURS = {
    "trainer": Loadable(trainer.IMAGE.reference, trainer.IMAGE.archive),
    "frameworks": Loadable(frameworks.IMAGE.reference, frameworks.IMAGE.archive),
    "tensorflow": Loadable(frameworks.TENSORFLOW.reference, frameworks.TENSORFLOW.archive),
    "fetcher": Loadable(fetcher.reference, fetcher.archive),
    "operator": Loadable(lambda: system.reference(system.OPERATOR), lambda: system.archive(system.TOOLS)),
    "kubectl-delivery": Loadable(
        lambda: system.reference(system.KUBECTL_DELIVERY), lambda: system.archive(system.TOOLS)
    ),
    "mpi-operator": Loadable(
        lambda: system.reference(system.MPI_OPERATOR), lambda: system.archive((system.MPI_OPERATOR,))
    ),
    **{
        name: Loadable(functools.partial(networks.reference, name), functools.partial(networks.archive, name))
        for name in networks.PROGRAMS
    },
    **{
        name: Loadable(functools.partial(system.reference, name), lambda: system.archive(system.KUBEFLOW_TRAINER))
        for name in system.KUBEFLOW_TRAINER
    },
    "storage": Loadable(lambda: system.reference(system.LOCAL_PATH), lambda: system.archive(system.TOOLS)),
}


def load(cluster: Cluster, engine: Engine, what: str) -> str:
    """Load one of our images by name, an image archive by path or an image of the engine's store by reference.

    Returns the reference that a pod names. Nodes that already have the image are left alone.
    """
    if what in OURS:
        reference = OURS[what].reference()
        if not _on_all_workers(cluster, engine, reference):
            _load_archive(cluster, engine, OURS[what].archive(), reference)
        return reference
    path = Path(what)
    if path.is_file():
        reference = _first_reference(path)
        _load_archive(cluster, engine, path, reference)
        return reference
    if not engine.has_image(what):
        raise ClusterError(
            f"{what!r} is neither an image archive nor an image in {engine.command}'s store",
            hint=f"one of {', '.join(OURS)}; a path to an archive; or build the image with {engine.command} first",
        )
    with cache.lock("save-image"), cache.scratch("save-image") as folder:
        # A fresh name each time: `podman save` keeps an archive that exists.
        archive = folder / "image.tar"
        engine.run_logged("save", "--output", str(archive), what, log="save-image")
        _load_archive(cluster, engine, archive, what)
    return what


def _load_archive(cluster: Cluster, engine: Engine, archive: Path, title: str) -> None:
    with progress.step(f"loading {title} into {len(cluster.workers)} nodes"):
        progress.run(
            [
                *(binary("kind"), "load", "image-archive", archive),
                *("--name", cluster.name, "--nodes", ",".join(cluster.workers)),
            ],
            log=f"load-{cluster.name}",
            environment=engine.kind_environment,
        )


def _on_all_workers(cluster: Cluster, engine: Engine, reference: str) -> bool:
    listing = ("ctr", "--namespace", "k8s.io", "images", "list", "--quiet", f"name=={reference}")
    return all(cluster.exec(engine, node, *listing).stdout.strip() == reference for node in cluster.workers)


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
