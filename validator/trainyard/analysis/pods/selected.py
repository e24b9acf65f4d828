"""The pods that a selector of labels chooses, found by an index: comparing each with each takes quadratic time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.analysis.objects.alike import few
from trainyard.analysis.pods.placement import has_labels
from trainyard.document.source import Source
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project, Role, Run


def selected_pods(project: Project, namespace: str, labels: Mapping[str, Any]) -> Sequence[Pod]:
    """Returns the pods of a namespace with all of these labels; none for no labels, and if there are too many."""
    return [role.pod for _, role in _selected(project, namespace, labels)]


def selected_in_file(project: Project, source: Source, labels: Mapping[str, Any]) -> Sequence[tuple[Run, Role]]:
    """Returns the roles of a file whose pods have all of these labels, with their runs, like `selected_pods`."""
    return _selected(project, id(source), labels)


def selected_anywhere(project: Project, labels: Mapping[str, Any]) -> Sequence[tuple[Run, Role]]:
    """Returns the roles of all namespaces whose pods have all of these labels, like `selected_in_file`."""
    return _selected(project, None, labels)


def is_selected(project: Project, labels: Mapping[str, Any]) -> bool:
    """True if a pod of any namespace has all of these labels, however many there are."""
    known = _roles.of(project)
    every = [known.get((None, str(name), str(value)), ()) for name, value in labels.items()]
    return any(has_labels(role.pod.labels, labels) for _, role in min(every, key=len, default=()))


def _selected(project: Project, scope: str | int | None, labels: Mapping[str, Any]) -> list[tuple[Run, Role]]:
    known = _roles.of(project)
    every: list[Sequence[tuple[Run, Role]]] = [
        known.get((scope, str(name), str(value)), ()) for name, value in labels.items()
    ]
    return [one for one in few(min(every, key=len, default=())) if has_labels(one[1].pod.labels, labels)]


def _find_roles(project: Project) -> dict[tuple[str | int | None, str, str], list[tuple[Run, Role]]]:
    """Returns the roles by a label of their pods, and by the namespace, the identity of the file or none of them."""
    found: dict[tuple[str | int | None, str, str], list[tuple[Run, Role]]] = {}
    for run in project.runs:
        for role in run.roles:
            for name, value in role.pod.labels.items():
                for scope in (run.namespace, id(run.at.document.source), None):
                    found.setdefault((scope, str(name), str(value)), []).append((run, role))
    return found


_roles: LastIndex[Project, dict[tuple[str | int | None, str, str], list[tuple[Run, Role]]]] = LastIndex(_find_roles)
