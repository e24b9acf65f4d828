"""CustomResourceDefinitions that our charts install, generated from the Go types of the pinned versions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.harness.cluster import cache, modules, progress, tools

FILES = ("charts/*/files/crds/*.yaml", "charts/*/crds/*.yaml")


@dataclass(frozen=True)
class Types:
    """A package of Go types: the folder for its CRDs, the tool folder that pins its module, the options."""

    folder: str
    tool: str
    package: str
    # Descriptions are two thirds of the training operator's 3.5 MB, and would not fit into the release Secret.
    options: str = "crd:maxDescLen=0"


TYPES = (
    Types(
        "charts/training-operator/files/crds",
        "training-operator",
        "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1",
        # Without this the API server would prune the labels and annotations of every pod template.
        "crd:generateEmbeddedObjectMeta=true,maxDescLen=0",
    ),
    Types(
        "charts/kubeflow-trainer/files/crds",
        "kubeflow-trainer",
        "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1",
        "crd:generateEmbeddedObjectMeta=true,maxDescLen=0",
    ),
    Types(
        "charts/kubeflow-trainer/files/crds",
        "kubeflow-trainer",
        "sigs.k8s.io/jobset/api/jobset/v1alpha2",
        "crd:generateEmbeddedObjectMeta=true,maxDescLen=0",
    ),
    Types(
        "charts/training-networks/crds",
        "whereabouts",
        "github.com/k8snetworkplumbingwg/whereabouts/pkg/api/whereabouts.cni.cncf.io/v1alpha1",
    ),
)
# The Go types of NetworkAttachmentDefinition lack its names, so this CRD is copied from their module.
NETWORKS = Path("charts/training-networks/crds/k8s.cni.cncf.io_network-attachment-definitions.yaml")
_NETWORKS_MODULE = "github.com/k8snetworkplumbingwg/network-attachment-definition-client"


def write(root: Path) -> None:
    """Write one YAML file per kind into the charts below `root`."""
    for types in TYPES:
        target = root / types.folder
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(generated(types).glob("*.yaml")):
            shutil.copyfile(file, target / file.name)
    source = modules.source("multus", _NETWORKS_MODULE) / "artifacts" / "networks-crd.yaml"
    (root / NETWORKS).write_text(yaml.safe_dump(yaml.safe_load(source.read_text()), sort_keys=False))


def files(root: Path) -> Iterator[Path]:
    """Yield all CRDs in the charts below `root`."""
    for pattern in FILES:
        yield from sorted(root.glob(pattern))


def generated(types: Types) -> Path:
    """Return the folder of controller-gen's output, cached for each version of it and of the module."""
    generator = tools.binary("controller-gen")
    key = cache.digest(tools.FOLDER / types.tool, generator.parent.name, types.package, types.options)

    def build(folder: Path) -> None:
        command: list[str | Path] = [
            *(generator, types.options, f"paths={types.package}", f"output:crd:artifacts:config={folder}")
        ]
        with progress.step(f"generating the CRDs of {types.tool}"):
            progress.run(command, log="generate-crds", environment=modules.environment(), cwd=tools.FOLDER / types.tool)

    return cache.cached("crds", key, build)
