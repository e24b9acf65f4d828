"""Objects that a controller may write into, as far as the files show: an object of an operator names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project
from trainyard.startup import NamedTuple

# Groups of Kubernetes and of its projects for batch jobs, whose controllers write no Secret and no ConfigMap of a user.
_WITHOUT = (".k8s.io", "kustomize.config.k8s.io", "ray.io", "kubeflow.org")
# Larger names are texts.
_LONGEST = 253


class _Named(NamedTuple):
    """The texts in objects of operators, and the names of these objects."""

    texts: frozenset[str]
    owners: tuple[str, ...]


def is_named_by_operator(project: Project, name: str) -> bool:
    """True if an object of an operator names an object, or gives it the beginning of its name.

    The operator of a database, for one, names Secrets after the database.
    """
    named = _named.of(project)
    return name in named.texts or name.startswith(named.owners)


def _find(project: Project) -> _Named:
    runs = {(id(run.at.document), run.name) for run in project.runs}
    found = [
        one
        for one in project.resources
        if "." in (group := one.api_version.rpartition("/")[0])
        and not group.endswith(_WITHOUT)
        and (id(one.at.document), one.name) not in runs
    ]
    texts = frozenset(value for one in found for value in _texts({**one.tree, "kind": "", "apiVersion": ""}))
    return _Named(texts, tuple(f"{one.name}-" for one in found if one.name))


def _texts(root: Any) -> Iterator[str]:
    left = [root]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and 0 < len(value) <= _LONGEST:
            yield value


_named: LastIndex[Project, _Named] = LastIndex(_find)
