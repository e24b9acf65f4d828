"""Finds what an object of any kind holds: templates of pods, and whole objects that it wraps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping
from trainyard.document.placeholders import masked
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText, Path, Source
from trainyard.loaders.contents import describes, may_hold
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Resource
from trainyard.startup import NamedTuple

# The most frequent kinds that hold neither pods nor other objects; looking into each of thousands takes time.
_PLAIN_KINDS = frozenset(
    (
        *("v1 ConfigMap", "v1 Secret", "v1 Service", "v1 ServiceAccount", "v1 PersistentVolumeClaim"),
        "k8s.cni.cncf.io/v1 NetworkAttachmentDefinition",
    )
)
# A mapping without one of these is neither the spec of a pod, nor an object or the text of one.
_FIELDS = frozenset(("containers", "container", "mainContainer"))
_MARKS = frozenset(("kind", "manifest"))
_WORKFLOWS = "argoproj.io"
# The operator of Dynamo completes the container of this name.
_DYNAMO = "nvidia.com/"


class Template(NamedTuple):
    """The template of a pod in an object.

    `path` leads to the spec of the pod, and `owner` is the mapping that holds the template: it may name the pods.
    `field` holds the containers.
    """

    path: Path
    spec: dict[str, Any]
    metadata: dict[str, Any]
    owner: dict[str, Any]
    field: str


def may_hold_pods(resource: Resource) -> bool:
    """True if looking into an object is worth the time."""
    if f"{resource.api_version} {resource.kind}" in _PLAIN_KINDS or describes(resource.api_version):
        return False
    document = resource.at.document
    # The text of an object from a chart is that of its template.
    return type(document) is not Document or _has_containers.of(document.source)


_has_containers: LastIndex[Source, bool] = LastIndex(
    lambda source: "container" in source.text or "mainContainer" in source.text
)


def templates(tree: dict[str, Any]) -> Iterator[Template]:
    """Yields the templates of pods in an object, without those of objects that it wraps."""
    for path, node, above in _mappings(tree):
        if _FIELDS.isdisjoint(node) or (path and is_object(node)):
            continue
        if any(isinstance(container, dict) and "image" in container for container in items(node, "containers")):
            yield _template(path, node, above, "containers")
        elif "image" in mapping(node, "container") and str(tree.get("apiVersion")).startswith(_WORKFLOWS):
            shared = {"volumes": [*items(tree, "spec", "volumes"), *items(node, "volumes")]}
            yield _template(path, node | shared, above, "container")
        elif "image" in mapping(node, "mainContainer") and str(tree.get("apiVersion")).startswith(_DYNAMO):
            yield _template(path, node, above, "mainContainer")


def wrapped(tree: dict[str, Any], at: Place) -> Iterator[tuple[dict[str, Any] | None, Place]]:
    """Yields the objects in an object, also those in a text, and not those that they wrap themselves.

    A text that cannot be read gives None, with its place.
    """
    for path, node, _ in _mappings(tree):
        if _MARKS.isdisjoint(node):
            continue
        if path and is_object(node):
            yield node, at.child(*path)
        # Argo Workflows create the objects of a text.
        elif isinstance(node.get("manifest"), str):
            place = at.child(*path, "manifest")
            inner = embedded(place, node["manifest"])
            if isinstance(inner, BrokenText):
                inner = embedded(place, masked(node["manifest"]))
            if isinstance(inner, BrokenText):
                yield None, place
            elif isinstance(inner.tree, dict) and is_object(inner.tree):
                yield inner.tree, Place(inner)


def is_object(tree: dict[str, Any]) -> bool:
    """True for an object of Kubernetes, and false for a reference to one."""
    named = isinstance(tree.get("kind"), str) and isinstance(tree.get("apiVersion"), str)
    return named and (isinstance(tree.get("spec"), dict) or isinstance(tree.get("metadata"), dict))


def _template(path: Path, spec: dict[str, Any], above: tuple[dict[str, Any], ...], field: str) -> Template:
    # Without a template of its own, the labels of a custom object are not those of its pods.
    in_template = path[-1:] == ("spec",) and (len(above) > 1 or above[0].get("kind") == "Pod")
    metadata = mapping(above[-1], "metadata") if in_template else {}
    return Template(path, spec, metadata, above[-2] if in_template and len(above) > 1 else spec, field)


def _mappings(tree: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any], tuple[dict[str, Any], ...]]]:
    """Yields all mappings, each with its path and those above it, in the order of the text."""
    left: list[tuple[Path, Any, tuple[dict[str, Any], ...]]] = [((), tree, ())]
    while left:
        path, node, above = left.pop()
        if isinstance(node, dict):
            yield path, node, above
            if not path or not is_object(node):
                inner = (*above, node)
                left += [((*path, key), node[key], inner) for key in reversed(node) if may_hold(key, node[key])]
        else:
            inside = range(len(node) - 1, -1, -1)
            left += [((*path, index), node[index], above) for index in inside if isinstance(node[index], dict | list)]
