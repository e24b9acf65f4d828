"""A workflow makes itself the owner of an object in another namespace, and the garbage collector deletes the object.

An owner is in the namespace of what it owns, or has no namespace. For `setOwnerReference: true`, Argo writes the
workflow into the `ownerReferences` of the object. If the manifest has another `metadata.namespace`, the garbage
collector looks for the workflow there, does not find it, and deletes the object: a job disappears while it trains.

Leave `setOwnerReference` out, or create the object in the namespace of the workflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.argo import spec_of
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_OWNS = "setOwnerReference"


@rule(
    code="RF077",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/argoproj/argo-workflows issue 13391",
        "kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents: no owners of other namespaces",
    ),
    needs=(_OWNS,),
)
def workflow_owns_other_namespace(resource: Resource) -> Iterator[Problem]:
    """Report manifests with an owner in another namespace."""
    spec = spec_of(resource) if resource.namespace else None
    for template, at in spec.templates.values() if spec is not None else ():
        made, place = mapping(template, "resource"), at.child("resource")
        if made.get(_OWNS) is not True or not text(made, "manifest"):
            continue
        inner = embedded(place.child("manifest"), text(made, "manifest"))
        other = "" if isinstance(inner, BrokenText) else text(inner.tree, "metadata", "namespace")
        if other and "{{" not in other and other != resource.namespace:
            yield Problem(
                place.child(_OWNS),
                f"{_OWNS}: the workflow is in `{resource.namespace}`, and the object is in `{other}`: the garbage "
                "collector deletes it",
                f"leave {_OWNS} out, or create the object in `{resource.namespace}`",
            )
