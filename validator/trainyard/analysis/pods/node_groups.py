"""Groups of nodes that the files define, with the labels and taints of their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trainyard.analysis.objects.alike import few
from trainyard.analysis.pods.placement import NODE_TERMS, required_expressions, tolerates
from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

_POOL = "karpenter.sh/nodepool"
_EFFECTS = ("NoSchedule", "NoExecute")
_GKE = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
_TYPE, _ACCELERATOR = "node.kubernetes.io/instance-type", "cloud.google.com/gke-accelerator"
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
    """A group of nodes: the values of its labels, and its taints; `given` are labels that the platform sets."""

    name: str
    labels: dict[str, frozenset[str]]
    taints: tuple[Taint, ...]
    given: dict[str, frozenset[str]]

    @property
    def title(self) -> str:
        """The name as a message has it."""
        return self.name if " " in self.name else f"`{self.name}`"


_SPOT = "kubernetes.azure.com/scalesetpriority"
# Groups that a platform labels and taints by itself: learn.microsoft.com/azure/aks/spot-node-pool.
OF_PLATFORMS = (Group("a spot pool of AKS", {_SPOT: frozenset(("spot",))}, (Taint(_SPOT, "spot", "NoSchedule"),), {}),)


def groups(project: Project) -> tuple[Group, ...]:
    """Returns the NodePools of Karpenter, the node groups of eksctl, and the node pools of Config Connector.

    Returns none if there are too many to belong to one cluster.
    """
    return _groups.of(project)


def selected(found: Sequence[Group], pod: Pod) -> list[Group]:
    """Returns the groups whose nodes a pod may select; none if it selects by labels that no group has."""
    if len(items(pod.tree, *NODE_TERMS)) > 1:
        return []
    asked = {str(name): frozenset((str(value),)) for name, value in mapping(pod.tree, "nodeSelector").items()}
    for one, _ in required_expressions(pod):
        if text(one, "operator") == "In":
            asked[text(one, "key")] = frozenset(map(str, items(one, "values")))
    if not asked:
        return list(found) if not items(pod.tree, *NODE_TERMS) else []
    matched = [(one, [_matches(one, name, values) for name, values in asked.items()]) for one in found]
    fitting = [(one, known) for one, known in matched if False not in known]
    return [one for one, _ in fitting] if any(True in known for _, known in fitting) else []


def _matches(group: Group, name: str, values: frozenset[str]) -> bool | None:
    """Returns whether the nodes of a group have one of the values; None if nothing is known about the label."""
    own = group.labels.get(name) or group.given.get(name)
    return None if own is None else bool(own & values)


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
    return tuple(few((*_of_karpenter(project), *_of_eksctl(project), *_of_config_connector(project))))


def _of_karpenter(project: Project) -> Iterator[Group]:
    for pool in project.of_kind("NodePool"):
        if pool.api_version.startswith("karpenter.sh/"):
            template = mapping(pool.tree, "spec", "template")
            labels = {_POOL: frozenset((pool.name,)), **_own(mapping(template, "metadata", "labels"))}
            given: dict[str, frozenset[str]] = {}
            for one in map(mapping, items(mapping(template, "spec"), "requirements")):
                key = text(one, "key")
                if one.get("operator") == "In":
                    kept = given if _is_well_known(key) else labels
                    kept[key] = frozenset(map(str, items(one, "values")))
            yield Group(pool.name, labels, _taints(items(mapping(template, "spec"), "taints")), given)


def _of_eksctl(project: Project) -> Iterator[Group]:
    for cluster in project.of_kind("ClusterConfig"):
        for field in ("managedNodeGroups", "nodeGroups"):
            for group in map(mapping, items(cluster.tree, field)):
                types = [text(group, "instanceType"), *map(str, items(group, "instanceTypes"))]
                given = {_TYPE: frozenset(one for one in types if one)} if any(types) else {}
                taints = _taints(items(group, "taints"))
                yield Group(text(group, "name"), _own(mapping(group, "labels")), taints, given)


def _of_config_connector(project: Project) -> Iterator[Group]:
    for pool in project.of_kind("ContainerNodePool"):
        config = mapping(pool.tree, "spec", "nodeConfig")
        given = {_TYPE: frozenset((text(config, "machineType"),))}
        for accelerator in items(config, "guestAccelerator"):
            given[_ACCELERATOR] = frozenset((text(accelerator, "type"),))
        taints = [{**mapping(one), "effect": _GKE.get(text(one, "effect"), "")} for one in items(config, "taint")]
        yield Group(pool.name, _own(mapping(config, "labels")), _taints(taints), given)


def _own(labels: dict[str, Any]) -> dict[str, frozenset[str]]:
    return {str(name): frozenset((str(value),)) for name, value in labels.items() if not _is_well_known(str(name))}


def _is_well_known(name: str) -> bool:
    return name != _POOL and (name.startswith("karpenter.sh/") or any(part in name for part in _WELL_KNOWN))


def _taints(written: list[Any]) -> tuple[Taint, ...]:
    found = (Taint(text(one, "key"), str(mapping(one).get("value") or ""), text(one, "effect")) for one in written)
    return tuple(one for one in found if one.key and one.effect in _EFFECTS and "{" not in "".join(one))


_groups: LastIndex[Project, tuple[Group, ...]] = LastIndex(_find)
