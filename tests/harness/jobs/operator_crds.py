"""CustomResourceDefinitions of operators that no chart here installs, and a cluster that serves kinds without them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import api, modules
from tests.cluster.cluster import Cluster

SERVED_SECONDS = "60s"
# Where no module can be had: fields that were written down from an operator's own documentation.
DOCUMENTED = "schemas/documented/*.yaml"
# By the tool folder that pins the modules: each module, and patterns of its files. The MPI operator serves another
# MPIJob than the training operator, under the same name.
OTHERS: dict[str, dict[str, tuple[str, ...]]] = {
    "mpi-operator": {"github.com/kubeflow/mpi-operator": ("manifests/base/kubeflow.org_mpijobs.yaml",)},
    "kubeflow-trainer": {
        "github.com/kubeflow/trainer/v2": ("manifests/base/crds/trainer.kubeflow.org_*.yaml",),
        "sigs.k8s.io/jobset": ("config/components/crd/bases/jobset.x-k8s.io_*.yaml",),
    },
    "monitoring": {
        "github.com/prometheus-operator/prometheus-operator": (
            "example/prometheus-operator-crd/monitoring.coreos.com_*monitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_*rules.yaml",
        ),
    },
    # Queues alone: a Workload is as large as a pod, and nobody writes one.
    "kueue": {"sigs.k8s.io/kueue": ("config/components/crd/bases/kueue.x-k8s.io_[clrt]*.yaml",)},
}


def of(tool: str) -> dict[Path, str]:
    """The files of an operator's definitions, and where each lies in its module."""
    found: dict[Path, str] = {}
    for module, patterns in OTHERS[tool].items():
        folder = modules.source(tool, module)
        files = sorted(file for pattern in patterns for file in folder.glob(pattern))
        found |= {file: f"{module}/{file.relative_to(folder)}" for file in files}
    return found


def documented(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A definition of each kind of a file of `DOCUMENTED`, which holds the fields of its `spec`."""
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


def written(root: Path, folder: Path) -> list[Path]:
    """Every definition of `DOCUMENTED` under `root` as a file in `folder`."""
    files = []
    for source in sorted(root.glob(DOCUMENTED)):
        for definition in documented(yaml.safe_load(source.read_text())):
            # JSON, because in YAML parts that are used twice would become aliases.
            files.append(folder / f"{definition['metadata']['name']}.json")
            files[-1].write_text(json.dumps(definition))
    return files


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
