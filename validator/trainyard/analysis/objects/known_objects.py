"""Objects that pods and queues refer to by name, as far as the files define them.

Sources: kubernetes.io/docs/concepts/configuration (ConfigMap: `data`, `binaryData`; Secret: `data`, `stringData`);
kustomize configMapGenerator and secretGenerator; bitnami-labs/sealed-secrets, external-secrets, cert-manager
Certificate, kubevirt CDI DataVolume and fluid Dataset, which create an object of the given name. So does the
ServiceAccount of Talos: siderolabs/talos internal/app/machined/pkg/controllers/kubeaccess/serviceaccount.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.folders import NESTED, distance, folder_of, nearest
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

# Kinds without a namespace.
CLUSTER_WIDE = frozenset(("PriorityClass", "RuntimeClass", "ClusterQueue", "ResourceFlavor", "StorageClass"))
# Objects from which a controller creates another one: the kind, and the field with its name.
_MAKERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "SealedSecret": ("Secret", ("spec", "template", "metadata", "name")),
    "ExternalSecret": ("Secret", ("spec", "target", "name")),
    "Certificate": ("Secret", ("spec", "secretName")),
    "VaultStaticSecret": ("Secret", ("spec", "destination", "name")),
    "VaultDynamicSecret": ("Secret", ("spec", "destination", "name")),
    "VaultPKISecret": ("Secret", ("spec", "destination", "name")),
    "OnePasswordItem": ("Secret", ()),
    "DataVolume": ("PersistentVolumeClaim", ()),
    "Dataset": ("PersistentVolumeClaim", ()),
}
_TALOS = "talos.dev/"
_DATA = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}
# Labels and annotations of objects that a controller or a hook writes begin with these, or name an operator.
_FILLED = ("helm.sh/hook", "cert-manager.io/", "external-secrets.io/", "reconcile.external-secrets.io/", "reflector.")
# Annotations of controllers that copy an object into other namespaces begin with these.
_COPIED = ("reflector.", "replicator.", "kubed.", "sync.kubed", "kopf.")


class Known(NamedTuple):
    """An object that certainly exists; `keys` are those of its data, None if they are not known."""

    kind: str
    name: str
    namespace: str
    keys: frozenset[str] | None
    tree: dict[str, Any]
    at: Place


def stands_alone(project: Project) -> bool:
    """True if the files hold one object and nothing else, as those of most jobs do: its names refer to other files."""
    return len(project.documents) == 1 == len(project.resources)


def has_kind(project: Project, kind: str) -> bool:
    """True if the files define an object of this kind."""
    return kind in _index.of(project).kinds


def names(project: Project, kind: str) -> frozenset[str]:
    """Returns the names of all objects of a kind."""
    return _index.of(project).kinds.get(kind, frozenset())


def everywhere(project: Project, kind: str, name: str) -> list[Known]:
    """Returns the objects of a kind and name in any namespace; none if there are too many to tell them apart."""
    return list(few(_index.of(project).objects.get((kind, name), ())))


def is_known(project: Project, kind: str, name: str) -> bool:
    """True if the files define an object of this kind and name in any namespace."""
    return (kind, name) in _index.of(project).objects


def fitting(project: Project, kind: str, name: str, namespace: str, at: Place) -> list[Known]:
    """Returns the objects that a name at this place may refer to, the nearest ones only.

    An object whose file gives no namespace fits any namespace, and so does a place without one.
    """
    index, source = _index.of(project), at.document.source
    in_file = index.by_file.get((kind, name, id(source)), [])
    in_folder = index.by_folder.get((kind, name, folder_of(at)), [])
    for found in (in_file, in_folder, index.objects.get((kind, name), [])):
        fits = [one for one in few(found) if _fits(kind, one.namespace, namespace)]
        if fits:
            return nearest(((one, one.at) for one in fits), at)
    return []


def only_elsewhere(project: Project, kind: str, name: str, namespace: str, at: Place) -> list[Known]:
    """Returns the objects of this name near a place, if all of them are certainly in other namespaces."""
    found = everywhere(project, kind, name)
    if kind in CLUSTER_WIDE or not namespace or any(_fits(kind, one.namespace, namespace) for one in found):
        return []
    if _index.of(project).sets_namespace or any(_is_copied(one) for one in found):
        return []
    return [one for one in found if distance(one.at, at) <= NESTED]


def _fits(kind: str, one: str, other: str) -> bool:
    return kind in CLUSTER_WIDE or not one or not other or one == other


def _is_copied(known: Known) -> bool:
    return any(str(name).startswith(_COPIED) for name in mapping(known.tree, "metadata", "annotations"))


class _Index(NamedTuple):
    objects: dict[tuple[str, str], list[Known]]
    by_file: dict[tuple[str, str, int], list[Known]]
    by_folder: dict[tuple[str, str, str], list[Known]]
    kinds: dict[str, frozenset[str]]
    sets_namespace: bool


def _make_index(project: Project) -> _Index:
    index = _Index({}, {}, {}, {}, any(text(tree, "namespace") for tree, _ in _kustomizations(project)))
    kinds: dict[str, set[str]] = {}
    found = (*map(_of_resource, project.resources), *_generated(project))
    # Of several in one file, the cluster ends up with the last one.
    last = {(one.kind, one.name, one.namespace, id(one.at.document.source)): one for one in found}
    for known in last.values():
        kind, name = known.kind, known.name
        index.objects.setdefault((kind, name), []).append(known)
        index.by_file.setdefault((kind, name, id(known.at.document.source)), []).append(known)
        index.by_folder.setdefault((kind, name, folder_of(known.at)), []).append(known)
        kinds.setdefault(kind, set()).add(name)
    index.kinds.update((kind, frozenset(names)) for kind, names in kinds.items())
    return index


def _of_resource(resource: Resource) -> Known:
    kind, name, keys = resource.kind, resource.name, None
    if kind == "ServiceAccount" and resource.api_version.startswith(_TALOS):
        kind = "Secret"
    elif kind in _MAKERS:
        kind, path = _MAKERS[kind]
        name = text(resource.tree, *path) or name
    elif kind in _DATA:
        keys = _written_keys(resource)
    return Known(kind, name, resource.namespace, keys, resource.tree, resource.at)


def _written_keys(resource: Resource) -> frozenset[str] | None:
    """Returns the keys of the data; None for a placeholder without any value, which somebody fills."""
    found = {str(key): value for field in _DATA[resource.kind] for key, value in mapping(resource.tree, field).items()}
    filled_later = resource.kind == "Secret" and not any(value not in ("", None) for value in found.values())
    return None if filled_later or _is_filled(resource) else frozenset(found) or None


def _is_filled(resource: Resource) -> bool:
    """True if a label or an annotation says that a controller or a hook of Helm writes the object."""
    words = (*mapping(resource.tree, "metadata", "labels"), *mapping(resource.tree, "metadata", "annotations"))
    return bool(items(resource.tree, "metadata", "ownerReferences")) or any(
        str(word).startswith(_FILLED) or "operator" in str(word).rpartition("/")[0] for word in words
    )


def _kustomizations(project: Project) -> Iterator[tuple[dict[str, Any], Place]]:
    for document in project.documents:
        name = document.source.name.replace("\\", "/").rpartition("/")[2]
        tree = document.tree
        if isinstance(tree, dict) and (tree.get("kind") == "Kustomization" or name.startswith("kustomization.y")):
            yield tree, Place(document)


def _generated(project: Project) -> Iterator[Known]:
    for tree, at in _kustomizations(project):
        for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            for index, entry in enumerate(items(tree, field)):
                namespace = text(entry, "namespace") or text(tree, "namespace")
                place = at.child(field, index)
                yield Known(kind, text(entry, "name"), namespace, _generated_keys(entry), {}, place)


def _generated_keys(entry: Any) -> frozenset[str] | None:
    if items(entry, "envs") or text(entry, "env") or text(entry, "behavior") == "merge":
        return None
    keys = {str(file).partition("=")[0].rpartition("/")[2] for file in items(entry, "files")}
    return frozenset(keys | {str(literal).partition("=")[0] for literal in items(entry, "literals")})


_index: LastIndex[Project, _Index] = LastIndex(_make_index)
