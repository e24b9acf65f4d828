"""The object lacks a field that its kind requires: the API server refuses the whole object.

The field is missing, or it is null, which is the same for Kubernetes: `image:` without a value, or a `containers:`
whose items were commented out. Nothing is created, with an error such as "spec.selector: Required value".

A file may be a patch, to which a kustomization adds the rest. Fields of a mapping are not required in files whose path
has the word `patch`, `overlay`, `override` or `merge`, nor beside a `kustomization.yaml` or a
`chainsaw-test.yaml`, nor in a workload whose containers have no image, nor in the resources of a composition of
Crossplane. The items of a list are always whole.
Nor are the `containers` of a Pod: Spark and Flink add them to the pod templates that users give them.

Add the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Misfit


@rule(
    code="SM004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4: required fields of api/openapi-spec/swagger.json that an API server refuses to miss",
        "schemas/crds: required fields of the CRDs without a default",
    ),
)
def required_field_missing(misfit: Misfit) -> Iterator[Problem]:
    """Report a required field that is missing or null."""
    if misfit.fault == "missing field":
        yield Problem(misfit.at, f"{misfit.message}: Kubernetes refuses the object")
