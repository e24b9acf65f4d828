"""Groups of nodes that the files define, with the labels and taints of their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trainyard.analysis.pods.placement import tolerates
from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

_POOL = "karpenter.sh/nodepool"
_EFFECTS = ("NoSchedule", "NoExecute")
# Labels of nodes beyond the files.
_WELL_KNOWN = ("kubernetes.io", "karpenter.k8s", "k8s.io", "karpenter.azure.com")


class Taint(NamedTuple):
    """A taint of nodes."""

    key: str
    value: str
    effect: str

    @property
    def written(self) -> str:
        """The taint as kubectl writes it."""
        return f"{self.key}{'=' if self.value else ''}{self.value}:{self.effect}"


class Group(NamedTuple):
    """A group of nodes: the values of its labels, and its taints."""

    name: str
    labels: dict[str, frozenset[str]]
    taints: tuple[Taint, ...]


def groups(project: Project) -> tuple[Group, ...]:
    """Returns the NodePools of Karpenter and the node groups of eksctl."""
    return _groups.of(project)


def untolerated(found: Sequence[Group], pod: Pod) -> Taint | None:
    """Returns a taint of the first group that keeps the pod off it; None without groups, or if one takes the pod."""
    taints = [_untolerated(group, pod) for group in found]
    return taints[0] if taints and all(taints) else None


def _untolerated(group: Group, pod: Pod) -> Taint | None:
    requested = {name for one in (*pod.containers, *pod.init_containers) for name in (*one.limits, *one.requests)}
    tolerations = [mapping(one) for one in items(pod.tree, "tolerations")]
    for taint in group.taints:
        if taint.key not in requested and not any("{{" in f"{one}" or tolerates(one, *taint) for one in tolerations):
            return taint
    return None


def _find(project: Project) -> tuple[Group, ...]:
    return (*_of_karpenter(project), *_of_eksctl(project))


def _of_karpenter(project: Project) -> Iterator[Group]:
    for pool in project.of_kind("NodePool"):
        if pool.api_version.startswith("karpenter.sh/"):
            template = mapping(pool.tree, "spec", "template")
            labels = {_POOL: frozenset((pool.name,)), **_own(mapping(template, "metadata", "labels"))}
            for one in map(mapping, items(mapping(template, "spec"), "requirements")):
                key = text(one, "key")
                if one.get("operator") == "In" and not _is_well_known(key):
                    labels[key] = frozenset(map(str, items(one, "values")))
            yield Group(pool.name, labels, _taints(items(mapping(template, "spec"), "taints")))


def _of_eksctl(project: Project) -> Iterator[Group]:
    for cluster in project.of_kind("ClusterConfig"):
        for field in ("managedNodeGroups", "nodeGroups"):
            for group in map(mapping, items(cluster.tree, field)):
                yield Group(text(group, "name"), _own(mapping(group, "labels")), _taints(items(group, "taints")))


def _own(labels: dict[str, Any]) -> dict[str, frozenset[str]]:
    return {str(name): frozenset((str(value),)) for name, value in labels.items() if not _is_well_known(str(name))}


def _is_well_known(name: str) -> bool:
    return name != _POOL and (name.startswith("karpenter.sh/") or any(part in name for part in _WELL_KNOWN))


def _taints(written: list[Any]) -> tuple[Taint, ...]:
    found = (Taint(text(one, "key"), str(mapping(one).get("value") or ""), text(one, "effect")) for one in written)
    return tuple(one for one in found if one.key and one.effect in _EFFECTS and "{" not in "".join(one))


_groups: LastIndex[Project, tuple[Group, ...]] = LastIndex(_find)
