"""Create a cluster and remove it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.harness.cluster import api, engine, go_build_cache, host, layers, loading, progress, storage
from tests.harness.cluster.cluster import WORKERS, Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.images import node, source

READY_SECONDS = 180
# kind bind-mounts this folder into its nodes. It is missing where the kernel has no modules; an empty one is enough.
KERNEL_MODULES = Path("/lib/modules")


def up(cluster: Cluster, *, api_port: int = 0, install: bool = True, renew: bool = False) -> Engine:
    """Make sure that the cluster runs and return its engine: create what is missing, start what is stopped.

    A cluster that cannot be restarted is kept and a `ClusterError` raised, unless `renew` allows to recreate it.
    """
    host.prepare_cache()
    with cluster.locked():
        known = cluster.engine()
        if known is not None:
            try:
                _restart(cluster, known)
            except ClusterError as error:
                if not renew:
                    raise
                progress.console.print(f"{error}: recreating the cluster")
            else:
                return known
        started = time.monotonic()
        host.require_free_port(api_port)
        host.require_disk_space(cluster.folder, built=node.DEBIAN.entry.exists())
        chosen = _engine(install=install)
        _prepare_kernel_modules()
        image = source.node_image(chosen, install=install)
        published = image == source.PUBLISHED
        unpacked = layers.folder() if layers.usable(published=published) else None
        with progress.step(f"creating cluster {cluster.name} (1 control plane, {WORKERS} workers)"):
            cluster.create(chosen, image=image, published=published, layers=unpacked, api_port=api_port)
            layers.prune()
            _wait_ready(cluster)
        if published:
            loading.load(cluster, chosen, "storage")
        with progress.step("checking that nodes share a volume"):
            storage.install(cluster)
            storage.verify_shared_volume(cluster)
        cluster.record(chosen)
        go_build_cache.drop()
        progress.console.print(f"cluster {cluster.name} is ready after {time.monotonic() - started:.0f} s")
        return chosen


def down(cluster: Cluster) -> bool:
    """Remove the cluster and the leftovers of an interrupted `up`; return true if there was anything to remove."""
    with cluster.locked():
        known = cluster.engine()
        if known is None and not cluster.folder.exists():
            return False
        cluster.remove(known or engine.choose())
        return True


def require_running(cluster: Cluster) -> Engine:
    """Return the engine of a cluster that is up; otherwise raise `ClusterError` with the command that creates it."""
    known = cluster.engine()
    if known is None:
        raise ClusterError(
            f"there is no cluster {cluster.name!r}", hint=f"python -m tests.harness up --name {cluster.name}"
        )
    return known


def _engine(*, install: bool) -> Engine:
    try:
        return engine.choose()
    except ClusterError:
        if not (install and host.may_install()):
            raise
    host.require_programs(host.ENGINE_PACKAGES, install=True)
    return engine.choose()


def _prepare_kernel_modules() -> None:
    if KERNEL_MODULES.exists():
        return
    try:
        KERNEL_MODULES.mkdir(parents=True)
    except OSError as error:
        raise ClusterError(
            f"{KERNEL_MODULES}, which kind mounts into its nodes, is missing", hint=f"as root: mkdir {KERNEL_MODULES}"
        ) from error


def _restart(cluster: Cluster, known: Engine) -> None:
    began = datetime.now(UTC)
    if cluster.start_stopped_nodes(known):
        _wait_for_leases(cluster, since=began)
    _wait_ready(cluster)


def _wait_for_leases(cluster: Cluster, *, since: datetime) -> None:
    """Wait until every kubelet has renewed its Lease: a node that was stopped stays Ready for 40 s."""
    connection = _connection(cluster)
    api.wait_until(
        lambda: all(api.lease_renewed_since(connection, node, since) for node in cluster.node_names),
        what="the kubelets to renew their Leases",
        seconds=READY_SECONDS,
    )


def _connection(cluster: Cluster) -> Any:
    return api.wait_until(
        lambda: api.connect(cluster.kubeconfig), what="the Kubernetes API to answer", seconds=READY_SECONDS
    )


def _wait_ready(cluster: Cluster) -> None:
    connection = _connection(cluster)
    api.wait_until(
        lambda: api.nodes_ready(connection, WORKERS + 1), what="the nodes to be Ready", seconds=READY_SECONDS
    )
    api.wait_until(
        lambda: api.deployment_available(connection, "kube-system", "coredns"), what="CoreDNS", seconds=READY_SECONDS
    )
    api.wait_until(
        lambda: api.find(connection, "v1", "ServiceAccount", "default", "default"),
        what="the default service account",
        seconds=READY_SECONDS,
    )
