"""Kubeflow Trainer and the JobSet controller that it uses, installed by our chart with the images of the harness."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS, Helm, Settings

RELEASE = CHART = "kubeflow-trainer"
NAMESPACE = "kubeflow-system"
TRAINER, JOBSET = RELEASE, f"{RELEASE}-jobset"
# Both create their webhook certificates after the start; the kubelet's next sync brings them to the pods.
READY_SECONDS = 180
_PARTS = ("repository", "tag")


def crds() -> list[Path]:
    """Return the files with the CRDs of Trainer and JobSet."""
    return sorted((CHARTS / CHART / "files" / "crds").glob("*.yaml"))


def remove_crds(cluster: Cluster) -> None:
    """Remove the CRDs of Trainer and JobSet, with all of their objects."""
    named = [word for file in crds() for word in ("--filename", str(file))]
    api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", *named)


@contextmanager
def installed(cluster: Cluster, engine: Engine, *, settings: Settings | None = None) -> Iterator[None]:
    """Install Trainer until the block ends, and remove its CRDs with all TrainJobs then."""
    try:
        install(cluster, engine, settings=settings)
        yield
    finally:
        Helm(cluster.kubeconfig).uninstall(RELEASE, namespace=NAMESPACE)
        remove_crds(cluster)
        namespaces.delete(cluster.kubeconfig, NAMESPACE)


def images(cluster: Cluster, engine: Engine) -> Settings:
    """Load the images of both controllers and return the values that name them."""
    programs = {"image": "trainer-controller-manager", "jobset.image": "jobset"}
    loaded = {key: loading.load(cluster, engine, program).rsplit(":", 1) for key, program in programs.items()}
    return {f"{key}.{part}": text for key, pair in loaded.items() for part, text in zip(_PARTS, pair, strict=True)}


def install(cluster: Cluster, engine: Engine, *, program: str = "helm", settings: Settings | None = None) -> None:
    """Install or upgrade Trainer, and wait until both controllers are Available and their webhooks answer."""
    Helm(cluster.kubeconfig, program).install(
        RELEASE,
        CHART,
        namespace=NAMESPACE,
        settings={**images(cluster, engine), **(settings or {})},
        options=["--create-namespace", "--wait", f"--timeout={READY_SECONDS}s"],
        upgrade=True,
    )
