"""JSON Schemas of what a user may lay over the policies that charts/gpu-rdma-policy makes.

Helm 3 hands a field that an operator does not know to the API server, which drops it in silence. With the operator's
own schema in the chart's, such a field is refused before that, and without a cluster.
"""

from __future__ import annotations

import json
from pathlib import Path

from .crd_schemas import FOLDER
from .kubernetes_schemas import DRAFT, Schema

# By the name of the file: the schema of the whole object.
OVERLAYS = {
    "clusterpolicy-spec": "nvidia.com/clusterpolicy_v1.json",
    "nicclusterpolicy-spec": "mellanox.com/nicclusterpolicy_v1alpha1.json",
}
TARGET = Path("charts/gpu-rdma-policy/types")
FILES = f"{TARGET}/*-spec.schema.json"


def write(root: Path) -> None:
    """Write one file for each policy under `root`."""
    for name, source in OVERLAYS.items():
        whole: Schema = json.loads((root / FOLDER / source).read_text())
        schema = {"$schema": DRAFT, "$comment": whole["$comment"], **partial(whole["properties"]["spec"])}
        (root / TARGET / f"{name}.schema.json").write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")


def partial(schema: Schema) -> Schema:
    """A schema in which no field is required, but for those of an item of a list: lists are replaced as a whole."""
    result = {key: value for key, value in schema.items() if key != "required"}
    if "properties" in schema:
        result["properties"] = {name: partial(property_) for name, property_ in schema["properties"].items()}
    return result
