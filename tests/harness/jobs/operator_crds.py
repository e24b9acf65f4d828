"""CRDs of operators that no chart here installs, and a way to serve them on a cluster without these operators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api, modules
from tests.harness.cluster.cluster import Cluster

SERVED_SECONDS = "60s"
# Schemas that were written by hand from an operator's documentation, because no Go module has them.
DOCUMENTED = "schemas/documented/*.yaml"
# By the tool folder that pins the modules: each module, and patterns of its files. The MPI operator's MPIJob has the
# same name as the training operator's, and another version.
MODULES: dict[str, dict[str, tuple[str, ...]]] = {
    "mpi-operator": {"github.com/kubeflow/mpi-operator": ("manifests/base/kubeflow.org_mpijobs.yaml",)},
    "monitoring": {
        "github.com/prometheus-operator/prometheus-operator": (
            "example/prometheus-operator-crd/monitoring.coreos.com_*monitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_*rules.yaml",
        ),
    },
    "kubeflow-trainer": {"sigs.k8s.io/scheduler-plugins": ("config/crd/bases/scheduling.x-k8s.io_podgroups.yaml",)},
    # Only the kinds of queues: a Workload is as large as a pod, and no user writes one.
    "kueue": {"sigs.k8s.io/kueue": ("config/components/crd/bases/kueue.x-k8s.io_[clrt]*.yaml",)},
}


def files(tool: str) -> dict[Path, str]:
    """Return the files with an operator's CRDs, and the path of each in its module."""
    found: dict[Path, str] = {}
    for module, patterns in MODULES[tool].items():
        folder = modules.source(tool, module)
        files = sorted(file for pattern in patterns for file in folder.glob(pattern))
        found |= {file: f"{module}/{file.relative_to(folder)}" for file in files}
    return found


def from_documentation(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a CRD for each kind of a file of `DOCUMENTED`, which holds the schema of `spec`."""
    for kind, about in group["kinds"].items():
        properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
        whole = {"type": "object", "required": ["spec"], "properties": {**properties, "spec": about["spec"]}}
        version = {"name": group["version"], "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
        names = {"kind": kind, "listKind": f"{kind}List", "plural": about["plural"], "singular": kind.lower()}
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{about['plural']}.{group['group']}"},
            "spec": {"group": group["group"], "names": names, "scope": about["scope"], "versions": [version]},
        }


def write_documented(root: Path, folder: Path) -> list[Path]:
    """Write every CRD of `DOCUMENTED` under `root` to a file in `folder`, and return the files."""
    files = []
    for source in sorted(root.glob(DOCUMENTED)):
        for definition in from_documentation(yaml.safe_load(source.read_text())):
            # JSON, because YAML would turn repeated parts into aliases.
            files.append(folder / f"{definition['metadata']['name']}.json")
            files[-1].write_text(json.dumps(definition))
    return files


@contextmanager
def served(cluster: Cluster, files: Iterable[Path]) -> Iterator[None]:
    """Let the API server serve the CRDs of these files until the block ends."""
    named = [word for file in files for word in ("--filename", str(file))]
    try:
        # Client-side, the whole CRD would have to fit into an annotation.
        api.kubectl(cluster.kubeconfig, "apply", "--server-side", *named)
        api.kubectl(cluster.kubeconfig, "wait", "--for=condition=Established", f"--timeout={SERVED_SECONDS}", *named)
        yield
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", *named)
