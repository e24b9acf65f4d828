"""Pods in files of SkyPilot: its tasks and its configuration have a part of a pod, which it merges with its own.

Source: skypilot-org/skypilot docs/source/reference: config.rst (kubernetes.pod_config) and yaml-spec.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import mapping
from trainyard.loaders.schemas.table import BUILT_IN, table_of

if TYPE_CHECKING:
    from trainyard.model.run import Misfit

_POD_SPEC = "PodSpec"
_RUNS = ("run", "setup")


def is_task(tree: dict[str, Any]) -> bool:
    """True for a task of SkyPilot, and for its configuration with a pod, of what is no object of Kubernetes."""
    is_run = any(isinstance(tree.get(name), str) for name in _RUNS) and isinstance(tree.get("resources"), dict)
    return is_run or bool(_configurations(tree))


def misfits_of_tasks(documents: Iterable[Document]) -> Iterator[Misfit]:
    """Yields unknown fields and wrong values of the pods. What is missing is in the pod of SkyPilot."""
    for document in documents:
        tree = document.tree
        if not isinstance(tree, dict) or "kind" in tree:
            continue
        table = table_of(BUILT_IN)
        for path, spec in _configurations(tree):
            if table is not None and not table.fits(_POD_SPEC, spec):
                from trainyard.loaders.schemas.faults import faults_of_part

                found = faults_of_part(table, _POD_SPEC, spec, Place(document, path))
                yield from (one for one in found if one.fault != "missing field")


def _configurations(tree: dict[str, Any]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Returns the specs of pods in a file, each with its path."""
    found: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    for above in (("config", "kubernetes"), ("kubernetes",)):
        part = mapping(tree, *above)
        contexts = mapping(part, "context_configs")
        for path in (above, *((*above, "context_configs", str(name)) for name in contexts)):
            spec = mapping(tree, *path, "pod_config", "spec")
            if spec:
                found.append(((*path, "pod_config", "spec"), spec))
    return found
