"""Objects that runs refer to by name. ConfigMaps, and networks in other namespaces, are read only if referenced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.analysis.network import multus
from trainyard.commands.audit.kinds import RUNS
from trainyard.document.lookup import mapping, text
from trainyard.facts.jobs.kubeflow import RUNTIMES

Tree = dict[str, Any]
# Namespace and name.
Name = tuple[str, str]

# The fields of a pod that name a ConfigMap: in volumes, in `envFrom` and in `env`.
_CONFIG_MAP_FIELDS = ("configMap", "configMapRef", "configMapKeyRef")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")


def is_name(text: str) -> bool:
    """True if this is a valid name of an object or a namespace. No other text may become part of a URL."""
    return _NAME.fullmatch(text) is not None


def config_maps(objects: Iterable[Tree]) -> list[Name]:
    """Returns the ConfigMaps that the runs' pods mount or take variables from, each once."""
    nodes = _nodes(objects)
    found = ((namespace, text(node, field, "name")) for namespace, node in nodes for field in _CONFIG_MAP_FIELDS)
    return _distinct(found)


def networks(objects: Iterable[Tree]) -> list[Name]:
    """Returns the networks that the runs' pods request from Multus, each once."""
    found = (
        (attachment.namespace or namespace, attachment.name)
        for namespace, node in _nodes(objects)
        for attachment in _attachments(text(node, multus.ANNOTATION))
    )
    return _distinct(found)


def _distinct(found: Iterable[Name]) -> list[Name]:
    # Names in the template of a custom resource are not validated: one may be `../secrets/token`.
    return list(dict.fromkeys(reference for reference in found if all(map(is_name, reference))))


def _attachments(annotation: str) -> tuple[multus.Attachment, ...]:
    parsed = multus.parse_annotation(annotation)
    return () if isinstance(parsed, multus.Malformed) else parsed


def _nodes(objects: Iterable[Tree]) -> Iterator[tuple[str, Tree]]:
    """Yields every mapping in the specs of the runs and their runtimes, with the namespace that its names belong to."""
    known = list(objects)
    runtimes = {_key(tree): tree for tree in known if tree["kind"] in RUNTIMES}
    for tree in known:
        namespace = text(tree, "metadata", "namespace")
        # A cluster-wide runtime has no namespace, but the TrainJobs that use it do.
        if tree["kind"] in RUNS and namespace:
            for part in (tree, runtimes.get(_runtime(tree, namespace), {})):
                yield from ((namespace, node) for node in _mappings(part.get("spec")))


def _key(tree: Tree) -> tuple[str, str, str]:
    return tree["kind"], text(tree, "metadata", "namespace"), text(tree, "metadata", "name")


def _runtime(tree: Tree, namespace: str) -> tuple[str, str, str]:
    reference = mapping(tree, "spec", "runtimeRef")
    kind = text(reference, "kind") or "ClusterTrainingRuntime"
    return kind, namespace if kind == "TrainingRuntime" else "", text(reference, "name")


def _mappings(tree: Any) -> Iterator[Tree]:
    if isinstance(tree, dict):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _mappings(child)
