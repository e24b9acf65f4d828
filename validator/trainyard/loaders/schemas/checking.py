"""Finds the objects that do not fit the schema of their kind. Those that fit cost a few microseconds each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any

from trainyard.loaders.contents import describes, may_hold
from trainyard.loaders.schemas.table import BUILT_IN, table_of

if TYPE_CHECKING:
    from trainyard.document.document import Place
    from trainyard.model.run import Misfit, Resource, Run

_POD_SPEC = "PodSpec"
_TAINT = "Taint"
_KNATIVE = "serving.knative.dev/"
# Groups whose tables leave out the pods, which are those of Kubernetes.
_WITH_PODS = ("batch.volcano.sh/", "leaderworkerset.x-k8s.io/", "ray.io/")
# Where kinds without a schema have the taints of nodes: those of Karpenter, Cluster API, kubeadm and eksctl.
_WITH_TAINTS = (
    ("spec", "template", "spec"),
    ("spec", "template", "spec", "joinConfiguration", "nodeRegistration"),
    ("spec", "joinConfiguration", "nodeRegistration"),
    ("spec",),
    ("nodeRegistration",),
)
_TAINTS = ("taints", "startupTaints")
# Custom kinds take the rules of placement of their pods as they are, often without a template of the pod.
_AFFINITY = "Affinity"
_PLACEMENT = frozenset(("nodeAffinity", "podAffinity", "podAntiAffinity"))
_TERMS = frozenset(
    ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")
)
# Reports end at fewer findings of a rule in a file, and each takes time to describe.
_MOST = 1_000
_ONE_OF = "takes one of"


def misfits(resources: Iterable[Resource], runs: Sequence[Run]) -> list[Misfit]:
    """Returns everything in the objects that the schemas of their kinds refuse.

    The pods of an object of an unknown kind are checked by themselves; `runs` holds them.
    """
    found: list[Misfit] = []
    unknown: dict[Place, Resource] = {}
    custom: set[Place] = set()
    for resource in resources:
        if len(found) > _MOST:
            break
        table = table_of(resource.api_version)
        root = table.root(resource.api_version, resource.kind) if table is not None else None
        if table is not None and root is not None:
            if not table.fits(root, resource.tree) and not _is_stored(resource):
                from trainyard.loaders.schemas.faults import faults

                found += islice(faults(table, root, resource), _MOST)
            if not table.has_pods and not _is_stored(resource):
                unknown[resource.at] = resource
            elif table is not table_of(BUILT_IN):
                custom.add(resource.at)
        elif not resource.is_too_large and not _is_stored(resource):
            unknown[resource.at] = resource
            from trainyard.loaders.schemas.served import unserved

            found += unserved(resource)
            found += _taints(resource)
    for run in runs if unknown else ():
        if run.at in unknown and (not run.is_job or run.api_version.startswith(_WITH_PODS)) and len(found) <= _MOST:
            found += islice(_pods(run), _MOST)
    found += islice(_placement(unknown.values(), runs), _MOST)
    found += _words_of_pods([run for run in runs if run.at in custom], {one.at for one in found})
    return found


def _is_stored(resource: Resource) -> bool:
    """True if the object comes from a cluster: its API server knows the kind, and has dropped unknown fields."""
    metadata = resource.tree.get("metadata")
    return isinstance(metadata, dict) and "uid" in metadata


def _words_of_pods(runs: Sequence[Run], known: Set[Place]) -> Iterable[Misfit]:
    """Yields words in pods of custom kinds that Kubernetes does not take: their schemas leave the words open."""
    for run in runs:
        # The pods of a TrainJob are those of its runtime, with the places there.
        for one in islice(_pods(run), _MOST) if run.kind != "TrainJob" else ():
            # Operators replace the restart policy of a template.
            is_word = one.fault == "wrong value" and _ONE_OF in one.message and one.at.path[-1:] != ("restartPolicy",)
            if is_word and one.at not in known:
                yield one._replace(message=one.message.replace("refuses the object", "refuses the pods"))


def _pods(run: Run) -> Iterable[Misfit]:
    table = table_of(BUILT_IN)
    for role in run.roles:
        at, tree = role.pod.at, role.pod.tree
        if _are_unnamed(tree) or (at.path == ("spec",) and not _is_pod(tree)):
            continue
        if table is not None and at.path[-1:] == ("spec",) and not table.fits(_POD_SPEC, role.pod.tree):
            from trainyard.loaders.schemas.faults import faults_of_part, faults_of_pod

            judge = faults_of_part if run.api_version.startswith(_WITH_PODS) else faults_of_pod
            found = judge(table, _POD_SPEC, role.pod.tree, at)
            # Knative sets names of containers and ports of probes itself.
            names_itself = run.api_version.startswith(_KNATIVE)
            yield from (one for one in found if not names_itself or not _is_set_by_knative(one))


def _is_set_by_knative(one: Misfit) -> bool:
    is_probe = any(str(step).endswith("Probe") for step in one.at.path)
    return one.fault == "missing field" and one.name in (("name", "port") if is_probe else ("name",))


def _taints(resource: Resource) -> Iterable[Misfit]:
    """Yields the values of taints that are no texts, as `value: true`."""
    table = table_of(BUILT_IN)
    for path in _WITH_TAINTS:
        parent: Any = resource.tree
        for name in path:
            parent = parent.get(name) if isinstance(parent, dict) else None
        for field in _TAINTS if isinstance(parent, dict) else ():
            for number, taint in enumerate(parent[field] if isinstance(parent.get(field), list) else ()):
                is_plain = isinstance(taint, dict) and "effect" in taint and isinstance(taint.get("value"), bool | int)
                if is_plain and table is not None:
                    from trainyard.loaders.schemas.faults import faults_of_pod

                    yield from faults_of_pod(table, _TAINT, taint, resource.at.child(*path, field, number))


def _placement(resources: Iterable[Resource], runs: Sequence[Run]) -> Iterable[Misfit]:
    """Yields the faults of rules of placement that stand outside of the specs of known pods."""
    pods: frozenset[Place] | None = None
    for resource in resources:
        if resource.is_too_large or describes(resource.api_version):
            continue
        if pods is None:
            pods = frozenset(role.pod.at for run in runs for role in run.roles)
        yield from _affinities(resource.tree, resource.at, pods)


def _affinities(node: Any, at: Place, pods: Set[Place]) -> Iterable[Misfit]:
    inner = node.items() if isinstance(node, dict) else enumerate(node)
    for step, value in inner:
        if not isinstance(value, dict | list) or not may_hold(str(step), value):
            continue
        place = at.child(step)
        if step == "affinity" and isinstance(value, dict) and _is_affinity(value):
            table = table_of(BUILT_IN)
            if table is not None and not table.fits(_AFFINITY, value):
                from trainyard.loaders.schemas.faults import faults_of_part

                found = faults_of_part(table, _AFFINITY, value, place)
                # Values of a chart are merged with those of its file; the items of lists are whole.
                yield from (one for one in found if one.fault != "missing field" or isinstance(one.at.path[-1], int))
        elif place not in pods:
            yield from _affinities(value, place, pods)


def _is_affinity(value: dict[str, Any]) -> bool:
    """True if a value has the form of the affinity of a pod. That of some kinds has fields of their own."""
    inner = value.values() if value.keys() <= _PLACEMENT else ()
    return bool(inner) and all(isinstance(one, dict) and one.keys() <= _TERMS for one in inner)


def _are_unnamed(spec: dict[str, Any]) -> bool:
    """True if no container has a name: the program of an unknown kind gives them names, and what else is missing."""
    containers = spec.get("containers")
    own = containers if isinstance(containers, list) else []
    return bool(own) and not any(isinstance(one, dict) and one.get("name") for one in own)


def _is_pod(spec: dict[str, Any]) -> bool:
    """True if the spec of an unknown kind is that of a pod. Kinds such as Flux's MiniCluster have other containers."""
    containers = spec.get("containers")
    own = containers if isinstance(containers, list) else []
    return all(isinstance(one, dict) and "name" in one and not isinstance(one.get("command"), str) for one in own)
