"""Bring a cluster up and take it down: the steps in their order."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import api, engine, host, loading, progress, storage, tools
from .cluster import WORKERS, Cluster
from .engine import Engine
from .errors import ClusterError
from .images import source

READY_SECONDS = 180
# kind bind-mounts this folder into its nodes; a kernel without modules has none, and an empty one will do.
KERNEL_MODULES = Path("/lib/modules")


def up(cluster: Cluster, *, api_port: int = 0, install: bool = True, renew: bool = False) -> Engine:
    """Make sure that the cluster runs and return its engine: build and create what is missing, start what stopped.

    A cluster that does not come back is kept and a `ClusterError` raised, unless `renew` allows to create it anew.
    """
    host.prepare_cache()
    with cluster.locked():
        known = cluster.engine()
        if known is not None:
            try:
                _bring_back(cluster, known)
            except ClusterError as error:
                if not renew:
                    raise
                progress.console.print(f"{error}: creating the cluster anew")
            else:
                return known
        started = time.monotonic()
        host.require_free_port(api_port)
        host.require_disk_space(cluster.folder)
        chosen = _engine(install=install)
        _prepare_kernel_modules()
        image = source.node_image(chosen, install=install)
        published = image == source.PUBLISHED
        with progress.step(f"creating cluster {cluster.name} (1 control plane, {WORKERS} workers)"):
            cluster.create(chosen, image=image, published=published, api_port=api_port)
            _wait_ready(cluster)
        if published:
            loading.load(cluster, chosen, "storage")
        with progress.step("proving that a volume is shared between nodes"):
            storage.install(cluster)
            storage.prove_shared(cluster)
        cluster.record(chosen)
        tools.drop_build_cache()
        progress.console.print(f"cluster {cluster.name} is ready after {time.monotonic() - started:.0f} s")
        return chosen


def down(cluster: Cluster) -> bool:
    """Remove the cluster and whatever an interrupted `up` left of it; return whether there was anything."""
    with cluster.locked():
        known = cluster.engine()
        if known is None and not cluster.folder.exists():
            return False
        cluster.remove(known or engine.choose())
        return True


def require_running(cluster: Cluster) -> Engine:
    """Return the engine of a cluster that is up; raise `ClusterError` that says how to bring it up otherwise."""
    known = cluster.engine()
    if known is None:
        raise ClusterError(
            f"there is no cluster {cluster.name!r}", hint=f"python -m tests.cluster up --name {cluster.name}"
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
            f"{KERNEL_MODULES} is missing and kind mounts it into its nodes", hint=f"as root: mkdir {KERNEL_MODULES}"
        ) from error


def _bring_back(cluster: Cluster, known: Engine) -> None:
    began = datetime.now(UTC)
    if cluster.revive(known):
        _wait_heard(cluster, since=began)
    _wait_ready(cluster)


def _wait_heard(cluster: Cluster, *, since: datetime) -> None:
    """Wait for every kubelet to report: a node that was stopped goes on being called Ready for 40 s."""
    connection = _connection(cluster)
    api.wait_until(
        lambda: all(api.heard_since(connection, node, since) for node in cluster.node_names),
        what="the kubelets to report",
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
