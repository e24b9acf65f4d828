"""The claim names no storage class, so a cluster with a default class provisions a new disk instead of this volume.

A claim without `storageClassName` gets the default class of the cluster, and a volume without one never matches it. The
claim then has an empty volume of another kind, or stays Pending if the class cannot provide `ReadWriteMany`. A claim
with `volumeName` always stays Pending, with the event `VolumeMismatch`. Without it, a volume whose `claimRef` names the
claim binds whatever the class.

The rule applies to a claim beside a PersistentVolume in the same file, if the volume has no class. If `volumeName`
names a volume with a class, they bind if that is the default class of the cluster. The rule reports the claim if a
StorageClass in the files is the default one and another, or is this one and not the default.

Write `storageClassName: ""` into the claim, which asks for a volume without a class.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Project, Resource

_DEFAULT = "storageclass.kubernetes.io/is-default-class"


@rule(
    code="RF019",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: Class, defaulting behaviors",
        "kubernetes v1.34.4 staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go: FindMatchingVolume "
        "takes a volume that is bound to the claim before it compares classes",
        "github.com/mappedinn/kubernetes-nfs-volume-on-gke issue 1",
        "github.com/testdrivenio/flask-vue-kubernetes pull 1",
    ),
    needs=("PersistentVolumeClaim",),
)
def claim_without_class(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report claims that miss the volume written for them."""
    spec = mapping(resource.tree, "spec")
    annotations = mapping(resource.tree, "metadata", "annotations")
    if resource.kind != "PersistentVolumeClaim" or "storageClassName" in spec or not spec or len(annotations) > 0:
        return
    for volume in context.project.of_kind("PersistentVolume"):
        own = mapping(volume.tree, "spec")
        if volume.at.document.source is not resource.at.document.source:
            continue
        if text(own, "storageClassName"):
            if text(spec, "volumeName") == volume.name and _is_no_default(
                text(own, "storageClassName"), context.project
            ):
                yield from _of_class(resource, volume)
                return
            continue
        offered = items(own, "accessModes")
        if all(mode in offered for mode in items(spec, "accessModes")) and _is_meant(resource, volume):
            named = text(spec, "volumeName")
            effect = "leaves the claim Pending, for it does not match" if named else "gives the claim a new disk, not"
            yield Problem(
                resource.at.child("spec").key(),
                f"a cluster with a default class {effect} PersistentVolume `{volume.name}`",
                'write `storageClassName: ""`',
                related=((volume.at, "the volume"),),
            )
            return


def _is_no_default(name: str, project: Project) -> bool:
    """True if the classes in the files show that the one of this name is not the default."""
    classes = {one.name: one for one in project.of_kind("StorageClass")}
    defaults = {
        one.name
        for one in classes.values()
        if str(mapping(one.tree, "metadata", "annotations").get(_DEFAULT)).lower() == "true"
    }
    return name not in defaults and (name in classes or bool(defaults))


def _of_class(claim: Resource, volume: Resource) -> Iterator[Problem]:
    own = text(volume.tree, "spec", "storageClassName")
    yield Problem(
        claim.at.child("spec").key(),
        f"PersistentVolume `{volume.name}` has the class `{own}`, and the claim has none, which gives "
        "it the default class: they do not bind",
        f"write `storageClassName: {own}`",
        related=((volume.at.child("spec", "storageClassName"), "the class of the volume"),),
    )


def _is_meant(claim: Resource, volume: Resource) -> bool:
    spec, own = mapping(claim.tree, "spec"), mapping(volume.tree, "spec")
    if text(spec, "volumeName") or mapping(own, "claimRef"):
        return text(spec, "volumeName") == volume.name
    asked = mapping(spec, "resources", "requests").get("storage")
    return asked is not None and str(asked) == str(mapping(own, "capacity").get("storage"))
