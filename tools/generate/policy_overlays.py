"""JSON Schemas of the overlays that users may put on the policies of charts/gpu-rdma-policy.

Helm 3 sends unknown fields to the API server, which drops them silently. With the operator's schema in the chart's own
schema, such fields are refused before, without a cluster.
"""

from __future__ import annotations

import json
from pathlib import Path

from tools.generate.crd_schemas import FOLDER
from tools.generate.kubernetes_schemas import DRAFT, Schema

# By file name: the schema of the whole object.
OVERLAYS = {
    "clusterpolicy-spec": "nvidia.com/clusterpolicy_v1.json",
    "nicclusterpolicy-spec": "mellanox.com/nicclusterpolicy_v1alpha1.json",
}
TARGET = Path("charts/gpu-rdma-policy/types")
FILES = f"{TARGET}/*-spec.schema.json"


def write(root: Path) -> None:
    """Write one file for each policy below `root`."""
    for name, source in OVERLAYS.items():
        whole: Schema = json.loads((root / FOLDER / source).read_text())
        schema = {"$schema": DRAFT, "$comment": whole["$comment"], **partial(whole["properties"]["spec"])}
        (root / TARGET / f"{name}.schema.json").write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")


def partial(schema: Schema) -> Schema:
    """Return a schema without required fields, except in items of lists, which an overlay replaces as a whole."""
    result = {key: value for key, value in schema.items() if key != "required"}
    if "properties" in schema:
        result["properties"] = {name: partial(property_) for name, property_ in schema["properties"].items()}
    return result
