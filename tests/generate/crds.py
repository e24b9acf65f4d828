"""The training operator's CustomResourceDefinitions, from the Go types of the version that the harness builds."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cluster import cache, progress, tools
from tests.cluster.modules import environment

TOOL = "training-operator"
PACKAGE = "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
# Upstream's options but for the descriptions, which are two thirds of its 3.5 MB and would overfill the release Secret.
# Without generateEmbeddedObjectMeta the API server prunes the labels and annotations of every pod template.
OPTIONS = "crd:generateEmbeddedObjectMeta=true,maxDescLen=0"
FOLDER = Path("charts/training-operator/files/crds")
FILES = f"{FOLDER}/*.yaml"


def write(root: Path) -> None:
    """Write one YAML file per kind into the operator's chart under `root`."""
    target = root / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted(generated().glob("*.yaml")):
        shutil.copyfile(file, target / file.name)


def generated() -> Path:
    """Folder of the CRDs as controller-gen writes them, built once for each version of it and of the module."""
    generator = tools.binary("controller-gen")
    key = cache.digest(tools.FOLDER / TOOL, generator.parent.name, PACKAGE, OPTIONS)

    def build(folder: Path) -> None:
        command: list[str | Path] = [generator, OPTIONS, f"paths={PACKAGE}", f"output:crd:artifacts:config={folder}"]
        with progress.step("generating CRDs"):
            progress.run(command, log="generate-crds", environment=environment(), cwd=tools.FOLDER / TOOL)

    return cache.cached("crds", key, build)
