"""Strict JSON Schemas of the kinds that the CRDs define, for kubeconform and for editors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import modules
from tests.cluster.errors import ClusterError

from . import crds, kubernetes_schemas
from .kubernetes_schemas import Schema

FOLDER = Path("schemas/crds")
FILES = f"{FOLDER}/*.json"
# How kubeconform is told to name the file of a kind: `pytorchjob_v1.json`.
FILE_TEMPLATE = "{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"

# No chart here installs these: tool folder that pins the module, the module, and where its CRDs are. The MPI operator
# serves another MPIJob, under the name of the training operator's CRD.
_OTHERS = (
    ("mpi-operator", "github.com/kubeflow/mpi-operator", "manifests/base/kubeflow.org_mpijobs.yaml"),
    ("kubeflow-trainer", "github.com/kubeflow/trainer/v2", "manifests/base/crds/trainer.kubeflow.org_*.yaml"),
    ("kubeflow-trainer", "sigs.k8s.io/jobset", "config/components/crd/bases/jobset.x-k8s.io_*.yaml"),
)


def write(root: Path) -> None:
    """Write one file per served kind and version, from the CRDs under `root` and from those of other operators.

    Raises `ClusterError` when there are no CRDs under `root`.
    """
    files = sorted(root.glob(crds.FILES))
    if not files:
        raise ClusterError(f"there are no CRDs in {crds.FOLDER}", hint="python -m tests.generate crds schemas")
    target = root / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    object_meta = kubernetes_schemas.definition(kubernetes_schemas.OBJECT_META)
    sources = {file: str(crds.FOLDER) for file in files}
    for tool, module, pattern in _OTHERS:
        folder = modules.source(tool, module)
        sources |= {file: f"{module}/{file.relative_to(folder)}" for file in sorted(folder.glob(pattern))}
    for file, origin in sources.items():
        for name, schema in from_crd(yaml.load(file.read_text(), Loader=yaml.CSafeLoader), object_meta):
            schema["$comment"] = f"Generated from {origin} by `make generate`."
            (target / name).write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")


def from_crd(crd: dict[str, Any], object_meta: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the file's name and the schema for each version that a CustomResourceDefinition serves.

    `object_meta` is the schema of `metadata` with its definitions: a CRD leaves that property to the API server.
    """
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    for version in crd["spec"]["versions"]:
        if not version["served"]:
            continue
        schema = strict(version["schema"]["openAPIV3Schema"])
        schema["properties"]["metadata"] = {key: value for key, value in object_meta.items() if key != "definitions"}
        whole = kubernetes_schemas.of_kind(f"{group}/{version['name']}", kind, schema)
        whole["definitions"] = object_meta["definitions"]
        yield f"{kind.lower()}_{version['name']}.json", whole


def strict(schema: Schema) -> Schema:
    """Translate a structural schema, in which an unlisted property is dropped in silence, so that it is refused."""
    foreign = ("description", "nullable", "properties", "items", "additionalProperties")
    result = {key: value for key, value in schema.items() if key not in foreign and not key.startswith("x-kubernetes-")}
    if schema.get("nullable"):
        result["type"] = [schema["type"], "null"]
    if "items" in schema:
        result["items"] = strict(schema["items"])
    if "properties" in schema:
        result["properties"] = {name: strict(property_) for name, property_ in schema["properties"].items()}
    extra = schema.get("additionalProperties")
    if extra is not None:
        result["additionalProperties"] = strict(extra) if isinstance(extra, dict) else extra
    elif schema.get("type") == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result["additionalProperties"] = False
    return result
