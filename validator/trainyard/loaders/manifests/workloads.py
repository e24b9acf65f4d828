"""Roles of jobs of Volcano, LeaderWorkerSet, Ray, HyperPod, kthena, DLRover and of the controllers of Kubernetes.

`facts.jobs.workloads` names the sources. A role trains if its pods have accelerators. In an object without any, all
roles train but those that start the processes of others: mpirun, and the head of a Ray cluster with workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.workloads import (
    ELASTIC_JOB,
    GROUPS,
    HYPERPOD,
    LEADER_WORKER,
    MODEL_SERVING,
    PLAIN,
    RAY,
    SERVERS,
    VOLCANO,
    group_of,
)
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.loaders.manifests.pods import ConfigMaps, load_pod, load_template
from trainyard.loaders.manifests.processes import launcher_of
from trainyard.loaders.manifests.templates import Template
from trainyard.model.run import Container, Mount, Pod, Resource, Role, Volume


class Workload(NamedTuple):
    """The roles of an object. `groups` is the number of equal groups of its pods, each of which trains by itself.

    `trains` is false for servers, and for pods that start no launcher.
    """

    roles: tuple[Role, ...]
    groups: int = 1
    trains: bool = True


def load_workload(resource: Resource, config_maps: ConfigMaps) -> Workload | None:
    """Returns the roles of an object; None if it is of another kind."""
    group = group_of(resource.api_version)
    if resource.kind in GROUPS.get(group, ()):
        found = _LOADERS[group](resource, config_maps)
        return found._replace(roles=_with_supporters(found.roles))
    if resource.kind in PLAIN and group in ("", "apps", "batch"):
        return _plain(resource, config_maps)
    return None


def _volcano(resource: Resource, config_maps: ConfigMaps) -> Workload:
    at = resource.at.child("spec", "tasks")
    roles = []
    for index, task in enumerate(items(resource.tree, "spec", "tasks")):
        if isinstance(task, dict):
            place = at.child(index)
            pod = _with_shared_volumes(_pod(task, place, resource, config_maps), resource)
            name = text(task, "name") or f"default{index}"
            roles.append(_role(name, _count(task, "replicas", 0), task, place, pod))
    return Workload(tuple(roles))


def _with_shared_volumes(pod: Pod, resource: Resource) -> Pod:
    """Returns a pod with the claims that Volcano mounts in every container of the job."""
    at = resource.at.child("spec", "volumes")
    volumes, mounts = [], []
    for index, volume in enumerate(items(resource.tree, "spec", "volumes")):
        if text(volume, "mountPath"):
            name = f"{resource.name}-{index}"
            claim = {"claimName": text(volume, "volumeClaimName")}
            volumes.append(Volume(name, "persistentVolumeClaim", claim, at.child(index)))
            mounts.append(Mount(name, text(volume, "mountPath"), False, at.child(index, "mountPath")))
    if not mounts:
        return pod
    containers = (container._replace(mounts=(*container.mounts, *mounts)) for container in pod.containers)
    return pod._replace(containers=tuple(containers), volumes=(*pod.volumes, *volumes))


def _leader_worker_set(resource: Resource, config_maps: ConfigMaps) -> Workload:
    tree, at = mapping(resource.tree, "spec", "leaderWorkerTemplate"), resource.at.child("spec", "leaderWorkerTemplate")
    groups, size = _count(mapping(resource.tree, "spec"), "replicas", 1), _count(tree, "size", 1)
    # A leader without a template of its own has that of the workers.
    has_leader = isinstance(tree.get("leaderTemplate"), dict)
    workers = groups * (size - has_leader) if groups is not None and size is not None else None
    roles = []
    for name, field, count in (("leader", "leaderTemplate", groups), ("worker", "workerTemplate", workers)):
        if isinstance(tree.get(field), dict):
            pod = load_pod(tree[field], at.child(field), resource.namespace, config_maps)
            roles.append(_role(name, count, tree, at, _with_claims(pod, tree, at)))
    return Workload(tuple(roles), groups or 1, not any(map(_serves, _containers(roles))))


def _ray(resource: Resource, config_maps: ConfigMaps) -> Workload:
    field = {"RayJob": "rayClusterSpec", "RayService": "rayClusterConfig"}.get(resource.kind)
    path = ("spec",) if field is None else ("spec", field)
    cluster, at = mapping(resource.tree, *path), resource.at.child(*path)
    roles = []
    head = mapping(cluster, "headGroupSpec")
    if head:
        place = at.child("headGroupSpec")
        roles.append(_role("head", 1, head, place, _pod(head, place, resource, config_maps)))
    for index, group in enumerate(items(cluster, "workerGroupSpecs")):
        if isinstance(group, dict):
            place = at.child("workerGroupSpecs", index)
            pod = _pod(group, place, resource, config_maps)
            roles.append(_role(text(group, "groupName"), _ray_pods(group, cluster), group, place, pod))
    submitter = mapping(resource.tree, "spec", "submitterPodTemplate")
    if submitter:
        place = resource.at.child("spec", "submitterPodTemplate")
        pod = load_pod(submitter, place, resource.namespace, config_maps)
        roles.append(_role("submitter", 1, {}, place, pod)._replace(trains=False))
    return Workload(tuple(roles), trains=resource.kind != "RayService" and not any(map(_serves, _containers(roles))))


def _ray_pods(group: dict[str, Any], cluster: dict[str, Any]) -> int | None:
    """Returns the number of pods of a group: KubeRay keeps it within its bounds, and the autoscaler changes it."""
    count, hosts = _count(group, "replicas", 0), _count(group, "numOfHosts", 1)
    least, most = _count(group, "minReplicas", 0), _count(group, "maxReplicas", 2**31 - 1)
    if count is None or hosts is None or least is None or most is None:
        return None
    if cluster.get("enableInTreeAutoscaling") is True and least != most:
        return None
    return min(max(count, least), most) * hosts


def _hyperpod(resource: Resource, config_maps: ConfigMaps) -> Workload:
    at = resource.at.child("spec", "replicaSpecs")
    roles = []
    for index, spec in enumerate(items(resource.tree, "spec", "replicaSpecs")):
        if isinstance(spec, dict):
            place = at.child(index)
            pod = _pod(spec, place, resource, config_maps)
            roles.append(_role(text(spec, "name"), integer(spec, "replicas"), spec, place, pod))
    return Workload(tuple(roles))


def _model_serving(resource: Resource, config_maps: ConfigMaps) -> Workload:
    groups = _count(mapping(resource.tree, "spec"), "replicas", 1)
    at = resource.at.child("spec", "template", "roles")
    roles = []
    for index, tree in enumerate(items(resource.tree, "spec", "template", "roles")):
        entries = _count(mapping(tree), "replicas", 1)
        total = groups * entries if groups is not None and entries is not None else None
        for field, count in (("entryTemplate", 1), ("workerTemplate", integer(tree, "workerReplicas"))):
            if isinstance(mapping(tree).get(field), dict):
                place = at.child(index, field)
                pod = load_pod(tree[field], place, resource.namespace, config_maps)
                name = f"{text(tree, 'name')}-{field.removesuffix('Template')}"
                pods = total * count if total is not None and count is not None else None
                roles.append(_role(name, pods, tree, at.child(index), pod))
    return Workload(tuple(roles), groups or 1, trains=False)


def _elastic_job(resource: Resource, config_maps: ConfigMaps) -> Workload:
    at = resource.at.child("spec", "replicaSpecs")
    specs = mapping(resource.tree, "spec", "replicaSpecs")
    roles = []
    for name in specs:
        spec, place = mapping(specs, name), at.child(name)
        if "template" in spec:
            roles.append(_role(name, integer(spec, "replicas"), spec, place, _pod(spec, place, resource, config_maps)))
    return Workload(tuple(roles))


def _plain(resource: Resource, config_maps: ConfigMaps) -> Workload | None:
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "CronJob":
        spec, at = mapping(spec, "jobTemplate", "spec"), at.child("jobTemplate", "spec")
    if resource.kind == "Pod":
        found = Template(("spec",), spec, mapping(resource.tree, "metadata"), resource.tree, "containers")
        pod = load_template(found, at, resource.at, resource.namespace, config_maps)
    else:
        pod = _with_claims(_pod(spec, at, resource, config_maps), spec, at)
    if not pod.containers:
        return None
    field = "parallelism" if resource.kind == "CronJob" else "replicas"
    count = 1 if resource.kind == "Pod" else _count(spec, field, 1)
    launches = any(launcher_of(container)[0] for container in pod.containers)
    trains = launches or any(container.gpus for container in pod.containers)
    role = _role(resource.kind, count, spec, at, pod)._replace(trains=trains)
    return Workload((role,), trains=launches and not any(map(_serves, pod.containers)))


def _role(name: str, count: int | None, tree: dict[str, Any], at: Place, pod: Pod) -> Role:
    main = next((index for index, container in enumerate(pod.containers) if container.gpus), None)
    if main is None:
        main = next((index for index, one in enumerate(pod.containers) if launcher_of(one)[0]), 0)
    return Role(name, count, text(pod.tree, "restartPolicy") or None, pod, main, True, tree, at)


def _pod(tree: dict[str, Any], at: Place, resource: Resource, config_maps: ConfigMaps) -> Pod:
    """Returns the pod of the template in a mapping."""
    return load_pod(mapping(tree, "template"), at.child("template"), resource.namespace, config_maps)


def _with_claims(pod: Pod, tree: dict[str, Any], at: Place) -> Pod:
    """Returns a pod with the volumes of its own claims."""
    claims = [
        Volume(text(claim, "metadata", "name"), "persistentVolumeClaim", {}, at.child("volumeClaimTemplates", index))
        for index, claim in enumerate(items(tree, "volumeClaimTemplates"))
    ]
    return pod._replace(volumes=(*pod.volumes, *claims)) if claims else pod


def _with_supporters(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    """Returns the roles, each with the answer if it trains."""
    if any(container.gpus for container in _containers(roles)):
        return tuple(role._replace(trains=any(one.gpus for one in role.pod.containers)) for role in roles)
    if len(roles) == 1:
        return roles
    return tuple(role._replace(trains=role.trains and not _starts_others(role)) for role in roles)


def _starts_others(role: Role) -> bool:
    commands = (command for container in role.pod.containers for command in container.commands)
    return ("rayStartParams" in role.tree and "groupName" not in role.tree) or any(
        command.program in MPI_LAUNCHERS for command in commands
    )


def _containers(roles: tuple[Role, ...] | list[Role]) -> Iterator[Container]:
    return (container for role in roles for container in role.pod.containers)


def _serves(container: Container) -> bool:
    words = (container.image or "", *container.command, *container.args)
    return any(server in word.lower() for word in words for server in SERVERS)


def _count(tree: dict[str, Any], field: str, default: int) -> int | None:
    return default if tree.get(field) is None else integer(tree, field)


_LOADERS: dict[str, Callable[[Resource, ConfigMaps], Workload]] = {
    VOLCANO: _volcano,
    LEADER_WORKER: _leader_worker_set,
    RAY: _ray,
    HYPERPOD: _hyperpod,
    MODEL_SERVING: _model_serving,
    ELASTIC_JOB: _elastic_job,
}
