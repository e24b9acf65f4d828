"""The claim names a volume that is too small or of another class, so the two never bind.

With `volumeName`, a claim waits for this volume. Kubernetes binds them if the capacity is at least the request, and the
class and the access modes fit. Otherwise the claim stays Pending, and so do its pods: "volume's capacity is less than
claim's request", "storageClassName does not match".

The rule applies if both are in the files. It leaves out volumes that name their claim in `claimRef`, which Kubernetes
binds without this check.

Write in both the same class, and a capacity of at least the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import everywhere
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource

# The older place of the class.
_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


@rule(
    code="RF028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/controller/volume/persistentvolume/pv_controller.go: "
        "syncUnboundClaim, checkVolumeSatisfyClaim",
        "github.com/kubernetes-sigs/aws-fsx-csi-driver pull 129",
    ),
    needs=("volumeName",),
)
def volume_smaller_than_claim(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report claims that cannot bind to the volume they name."""
    if resource.kind != "PersistentVolumeClaim":
        return
    claim, name = mapping(resource.tree, "spec"), text(resource.tree, "spec", "volumeName")
    found = everywhere(context.project, "PersistentVolume", name) if name else []
    if len(found) != 1:
        return
    volume, at = mapping(found[0].tree, "spec"), resource.at.child("spec")
    if mapping(volume, "claimRef"):
        return
    asked = mapping(claim, "resources", "requests").get("storage")
    has = mapping(volume, "capacity").get("storage")
    need, capacity = parse_quantity(asked), parse_quantity(has)
    if need is not None and capacity is not None and need > capacity:
        yield Problem(
            at.child("resources", "requests", "storage"),
            f"the claim requests {asked}, and its volume `{name}` has {has}: they never bind",
            f"request at most {has}, or raise the capacity of the volume",
            related=((found[0].at.child("spec", "capacity", "storage"), "the capacity"),),
        )
    elif (told := _class(claim)) is not None and told != (own := _class_of_volume(found[0].tree)):
        yield Problem(
            at.child("storageClassName"),
            f"the claim has the class `{told}`, and its volume `{name}` has `{own}`: they never bind",
            f"write `storageClassName: {own or chr(34) * 2}`",
            related=((found[0].at.child("spec"), "the volume"),),
        )
    elif missing := _modes(claim) - _modes(volume):
        mode = min(missing)
        yield Problem(
            at.child("accessModes"),
            f"the claim requests {mode}, which its volume `{name}` does not offer: they never bind",
            f"add {mode} to the volume, or request another mode",
            related=((found[0].at.child("spec", "accessModes"), "the modes of the volume"),),
        )


def _class_of_volume(volume: dict[str, Any]) -> str:
    return text(volume, "metadata", "annotations", _ANNOTATION) or text(volume, "spec", "storageClassName")


def _class(spec: dict[str, Any]) -> str | None:
    """Returns the class that a claim writes; None if it gets the default class."""
    return text(spec, "storageClassName") if isinstance(spec.get("storageClassName"), str) else None


def _modes(spec: dict[str, Any]) -> set[str]:
    return {str(mode) for mode in items(spec, "accessModes")}
