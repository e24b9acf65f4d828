"""The claim names no storage class, so a cluster with a default class provisions a new disk instead of this volume.

A claim without `storageClassName` gets the default class of the cluster, and a volume without one never matches it. The
claim then has an empty volume of another kind, or stays Pending if the class cannot provide `ReadWriteMany`. A claim
with `volumeName` always stays Pending, with the event `VolumeMismatch`, and one with a `selector` too, for which no
provisioner makes a disk. Without it, a volume whose `claimRef` names the
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
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

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
    known = _volumes.of(context.project).get(id(resource.at.document.source))
    if known is None:
        return
    named_volume = known.with_class.get(text(spec, "volumeName"))
    if named_volume is not None and _is_no_default(
        text(named_volume.tree, "spec", "storageClassName"), context.project
    ):
        yield from _of_class(resource, named_volume)
        return
    named = text(spec, "volumeName")
    asked = str(mapping(spec, "resources", "requests").get("storage"))
    for offered, volume in known.without_class.get((named, "" if named else asked), {}).items():
        if all(str(mode) in offered for mode in items(spec, "accessModes")):
            # Provisioners make no disk for a selector.
            is_chosen = named or spec.get("selector")
            effect = (
                "leaves the claim Pending, because it does not match"
                if is_chosen
                else "gives the claim a new disk, not"
            )
            yield Problem(
                resource.at.child("spec").key(),
                f"a cluster with a default class {effect} PersistentVolume `{volume.name}`",
                'write `storageClassName: ""`',
                related=((volume.at, "the volume"),),
            )
            return


class _Volumes(NamedTuple):
    """The volumes of a file: those with a class by their names, and the others by what a claim says of them.

    A claim names its volume, or has the capacity of one without `claimRef`. Of volumes that a claim cannot tell apart,
    with the same access modes, the first one is here.
    """

    with_class: dict[str, Resource]
    without_class: dict[tuple[str, str], dict[tuple[str, ...], Resource]]


def _find_volumes(project: Project) -> dict[int, _Volumes]:
    found: dict[int, _Volumes] = {}
    for volume in project.of_kind("PersistentVolume"):
        known = found.setdefault(id(volume.at.document.source), _Volumes({}, {}))
        spec = mapping(volume.tree, "spec")
        if text(spec, "storageClassName"):
            known.with_class.setdefault(volume.name, volume)
            continue
        offered = tuple(sorted({str(mode) for mode in items(spec, "accessModes")}))
        storage = mapping(spec, "capacity").get("storage")
        known.without_class.setdefault((volume.name, ""), {}).setdefault(offered, volume)
        if storage is not None and not mapping(spec, "claimRef"):
            known.without_class.setdefault(("", str(storage)), {}).setdefault(offered, volume)
    return found


def _find_classes(project: Project) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the names of all classes, and of the defaults among them."""
    classes = {one.name: one for one in project.of_kind("StorageClass")}
    defaults = (
        one.name
        for one in classes.values()
        if str(mapping(one.tree, "metadata", "annotations").get(_DEFAULT)).lower() == "true"
    )
    return frozenset(classes), frozenset(defaults)


_volumes: LastIndex[Project, dict[int, _Volumes]] = LastIndex(_find_volumes)
_classes: LastIndex[Project, tuple[frozenset[str], frozenset[str]]] = LastIndex(_find_classes)


def _is_no_default(name: str, project: Project) -> bool:
    """True if the classes in the files show that the one of this name is not the default."""
    classes, defaults = _classes.of(project)
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
