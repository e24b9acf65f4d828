"""CustomResourceDefinitions of operators that no chart here installs, and a cluster that serves kinds without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster import api, modules
from tests.cluster.cluster import Cluster

SERVED_SECONDS = "60s"
# By the tool folder that pins the modules: each module, and the files in it. The MPI operator serves another MPIJob
# than the training operator, under the same name.
OTHERS = {
    "mpi-operator": {"github.com/kubeflow/mpi-operator": "manifests/base/kubeflow.org_mpijobs.yaml"},
    "kubeflow-trainer": {
        "github.com/kubeflow/trainer/v2": "manifests/base/crds/trainer.kubeflow.org_*.yaml",
        "sigs.k8s.io/jobset": "config/components/crd/bases/jobset.x-k8s.io_*.yaml",
    },
}


def of(tool: str) -> dict[Path, str]:
    """The files of an operator's definitions, and where each lies in its module."""
    found: dict[Path, str] = {}
    for module, pattern in OTHERS[tool].items():
        folder = modules.source(tool, module)
        found |= {file: f"{module}/{file.relative_to(folder)}" for file in sorted(folder.glob(pattern))}
    return found


@contextmanager
def served(cluster: Cluster, files: Iterable[Path]) -> Iterator[None]:
    """Let the API server know the definitions of these files; afterwards they are gone."""
    named = [word for file in files for word in ("--filename", str(file))]
    try:
        # Client-side, a definition would have to fit into an annotation of its own.
        api.kubectl(cluster.kubeconfig, "apply", "--server-side", *named)
        api.kubectl(cluster.kubeconfig, "wait", "--for=condition=Established", f"--timeout={SERVED_SECONDS}", *named)
        yield
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", *named)
