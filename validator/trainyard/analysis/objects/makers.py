"""Objects that a controller may write into, as far as the files show: an object of an operator names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.object_references import ObjectReference
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project
from trainyard.startup import NamedTuple

# Groups of Kubernetes and of its projects for batch jobs, whose controllers write no Secret and no ConfigMap of a user.
_WITHOUT = (".k8s.io", "kustomize.config.k8s.io", "ray.io", "kubeflow.org")
# Groups whose objects lead to others, and make none.
_PASSIVE = (
    "gateway.networking.k8s.io", "inference.networking.k8s.io", "inference.networking.x-k8s.io", "networking.istio.io",
    "security.istio.io", "monitoring.coreos.com", "kueue.x-k8s.io", "keda.sh", "k8s.cni.cncf.io", "cert-manager.io",
    "external-secrets.io", "nfd.k8s-sigs.io", "apiextensions.k8s.io", "admissionregistration.k8s.io",
    "networking.k8s.io",
    "apiregistration.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io", "snapshot.storage.k8s.io", "policy",
    "scheduling.k8s.io", "resource.k8s.io", "autoscaling.k8s.io", "kustomize.config.k8s.io", "karpenter.sh",
    "source.toolkit.fluxcd.io",
)  # fmt: skip
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


def may_be_made(project: Project, reference: ObjectReference) -> bool:
    """True if the controller of a custom object may create what a reference names: after its own name, as most do."""
    return reference.name.startswith(_owners.of(project))


def _find_owners(project: Project) -> tuple[str, ...]:
    found = (one for one in project.resources if "." in one.api_version.rpartition("/")[0])
    return tuple({one.name for one in found if one.name and one.api_version.rpartition("/")[0] not in _PASSIVE})


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
_owners: LastIndex[Project, tuple[str, ...]] = LastIndex(_find_owners)
