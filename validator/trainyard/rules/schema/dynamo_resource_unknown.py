"""A Dynamo deployment names a GPU by the resource of Kubernetes, and its operator has a field of its own for it.

The `resources` of a service in a DynamoGraphDeployment have the fields `cpu`, `memory` and `gpu`, and `custom` for any
other resource. `nvidia.com/gpu` beside them is dropped, or strict decoding refuses the object: the service runs
without GPUs.

Write `gpu: "1"`, or put the resource below `custom`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Edit, Rename
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

KINDS = ("DynamoGraphDeployment", "DynamoComponentDeployment")
GPU = "nvidia.com/gpu"


@rule(
    code="SM013",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ai-dynamo/dynamo deploy/operator/api/v1alpha1/common.go: ResourceItem",
        "github.com/ai-dynamo/dynamo pull 1812",
    ),
    fix="unsafe",
    needs=KINDS,
)
def dynamo_resource_unknown(resource: Resource) -> Iterator[Problem]:
    """Report resources that the operator of Dynamo does not know."""
    if resource.kind not in KINDS or not resource.api_version.endswith("/v1alpha1"):
        return
    services = [(mapping(resource.tree, "spec"), resource.at.child("spec"))]
    named = mapping(resource.tree, "spec", "services")
    services += [(mapping(named, name), resource.at.child("spec", "services", name)) for name in named]
    for tree, at in services:
        for field in ("requests", "limits"):
            for name in mapping(tree, "resources", field):
                if "/" not in str(name):
                    continue
                place = at.child("resources", field, name).key()
                is_gpu = name == GPU
                edits: tuple[Edit, ...] = (Rename(place, "gpu"),) if is_gpu else ()
                yield Problem(
                    place,
                    f"Dynamo's `resources` have no `{name}`: it is refused or dropped",
                    "write `gpu`" if is_gpu else "put it below `custom`",
                    edits,
                )
