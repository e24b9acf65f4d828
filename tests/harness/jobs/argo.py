"""Argo CD without its web server: its controller and its renderer of charts, as processes that work on a cluster.

They reach a registry of this machine, which pods do not. Applications are objects of the cluster, as for its users.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster import api, cache, modules, tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import operator_crds
from tests.harness.ports import free_port
from tests.harness.services import serving

TOOL = "argo-cd"
MODULE = "github.com/argoproj/argo-cd/v3"
NAMESPACE = "argocd"
# Its server creates this project when it first starts.
PROJECT = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "AppProject",
    "metadata": {"name": "default", "namespace": NAMESPACE},
    "spec": {
        "sourceRepos": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
    },
}


@contextmanager
def running(cluster: Cluster, folder: Path, *registries: str) -> Iterator[None]:
    """Serve Argo CD's kinds and run it until the block ends, which removes Applications that are left.

    It keeps charts in `folder`. It speaks plain HTTP with these places of registries, such as `oci://127.0.0.1:5000/x`.
    The logs lie beside those of steps, as `argo-cd-PROGRAM.log`.
    """
    store, charts = (f"127.0.0.1:{free_port()}" for _ in range(2))
    program = str(tools.binary(TOOL))
    tools.link(folder / "bin", ("helm",))
    variables = {
        "KUBECONFIG": str(cluster.kubeconfig),
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "TMPDIR": str(folder),
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
    }
    renderer = [program, "argocd-repo-server", "--disable-tls", "--address=127.0.0.1", f"--redis={store}"]
    renderer += [f"--port={charts.rpartition(':')[2]}", f"--metrics-port={free_port()}"]
    controller = [program, "argocd-application-controller", f"--namespace={NAMESPACE}", f"--redis={store}"]
    controller += [f"--repo-server={charts}", "--repo-server-plaintext", f"--metrics-port={free_port()}"]
    with (
        operator_crds.served(cluster, crds()),
        _configured(cluster, registries),
        serving([program, "store", store], _log("store")),
        serving(renderer, _log("renderer"), variables),
        serving(controller, _log("controller"), variables),
    ):
        try:
            yield
        finally:
            # An Application of a failed test waits for the controller, which is about to end.
            api.kubectl(cluster.kubeconfig, "-n", NAMESPACE, "delete", "applications", "--all", "--timeout=60s")


def crds() -> list[Path]:
    """Return the files with the CustomResourceDefinitions of what the controller watches."""
    folder = modules.source(TOOL, MODULE) / "manifests/crds"
    return [folder / f"{kind}-crd.yaml" for kind in ("application", "appproject")]


@contextmanager
def _configured(cluster: Cluster, registries: tuple[str, ...]) -> Iterator[None]:
    """Create the namespace with the settings of a new installation, a project and registries, until the block ends."""
    files = modules.source(TOOL, MODULE) / "manifests/base/config"
    try:
        namespaces.create(cluster.kubeconfig, NAMESPACE)
        api.kubectl(cluster.kubeconfig, "apply", "--namespace", NAMESPACE, "--kustomize", str(files))
        api.apply(cluster.kubeconfig, PROJECT, *(_registry(*numbered) for numbered in enumerate(registries)))
        yield
    finally:
        namespaces.delete(cluster.kubeconfig, NAMESPACE)


def _registry(number: int, url: str) -> dict[str, object]:
    labels = {"argocd.argoproj.io/secret-type": "repo-creds"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"registry-{number}", "namespace": NAMESPACE, "labels": labels},
        "stringData": {"type": "oci", "url": url, "insecureOCIForceHttp": "true"},
    }


def _log(program: str) -> Path:
    return cache.log_path(f"{TOOL}-{program}")
