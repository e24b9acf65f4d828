"""Strict JSON Schemas of the kinds that CRDs define, for kubeconform and for editors.

The CRDs are those of our charts, those of other operators in their Go modules, and `schemas/documented`, written by
hand from the documentation of operators without a Go module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import operator_crds
from tools.generate import crds, kubernetes_schemas
from tools.generate.kubernetes_schemas import Schema

FOLDER = Path("schemas/crds")
FILES = f"{FOLDER}/*/*.json"
# The template by which kubeconform finds the file of a kind: `kubeflow.org/pytorchjob_v1.json`.
FILE_TEMPLATE = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"


def write(root: Path) -> None:
    """Write one file per group, kind and served version.

    Raises `ClusterError` when there are no CRDs below `root`.
    """
    sources = {file: str(file.relative_to(root)) for file in crds.files(root)}
    if not sources:
        raise ClusterError("there are no CRDs in charts", hint="python -m tools.generate crds schemas")
    for tool in operator_crds.MODULES:
        sources |= operator_crds.files(tool)
    object_meta = kubernetes_schemas.definition(kubernetes_schemas.OBJECT_META)
    for file, origin in sources.items():
        _put(root, from_crd(yaml.load(file.read_text(), Loader=yaml.CSafeLoader), object_meta), origin)
    for file in sorted(root.glob(operator_crds.DOCUMENTED)):
        for definition in operator_crds.from_documentation(yaml.safe_load(file.read_text())):
            _put(root, from_crd(definition, object_meta), str(file.relative_to(root)))


def _put(root: Path, schemas: Iterator[tuple[str, Schema]], origin: str) -> None:
    for name, schema in schemas:
        schema["$comment"] = f"Generated from {origin} by `make generate`."
        target = root / FOLDER / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")


def from_crd(crd: dict[str, Any], object_meta: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield file name and schema for each version that a CustomResourceDefinition serves.

    `object_meta` is the schema of `metadata` with its definitions, which a CRD leaves to the API server.
    """
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    for version in crd["spec"]["versions"]:
        if not version["served"]:
            continue
        schema = strict(version["schema"]["openAPIV3Schema"])
        schema["properties"]["metadata"] = {key: value for key, value in object_meta.items() if key != "definitions"}
        whole = kubernetes_schemas.of_kind(f"{group}/{version['name']}", kind, schema)
        whole["definitions"] = object_meta["definitions"]
        yield f"{group}/{kind.lower()}_{version['name']}.json", whole


def strict(schema: Schema) -> Schema:
    """Return a structural schema with unlisted properties forbidden; the API server would drop them silently."""
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
