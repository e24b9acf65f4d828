"""The pods that a selector of labels chooses, found by an index: comparing each with each takes quadratic time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.analysis.pods.placement import has_labels
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

# Objects of several clusters: nothing tells which of them belong together.
_MOST = 64


def selected_pods(project: Project, namespace: str, labels: Mapping[str, Any]) -> Sequence[Pod]:
    """Returns the pods of a namespace with all of these labels; none for no labels, and if there are too many."""
    known = _pods.of(project)
    every = [known.get((namespace, str(name), str(value)), []) for name, value in labels.items()]
    fewest = min(every, key=len, default=[])
    return [pod for pod in fewest if has_labels(pod.labels, labels)] if len(fewest) <= _MOST else []


def _find_pods(project: Project) -> dict[tuple[str, str, str], list[Pod]]:
    found: dict[tuple[str, str, str], list[Pod]] = {}
    for run in project.runs:
        for role in run.roles:
            for name, value in role.pod.labels.items():
                found.setdefault((run.namespace, str(name), str(value)), []).append(role.pod)
    return found


_pods: LastIndex[Project, dict[tuple[str, str, str], list[Pod]]] = LastIndex(_find_pods)
