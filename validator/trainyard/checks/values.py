"""The model as expressions see it: maps with every field, null where the files contain no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.engine.rule import Context
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Pod, Resource, Role, Run

# The variables for each subject, the innermost one last.
VARIABLES = {
    "object": ("object",),
    "run": ("run",),
    "role": ("run", "role"),
    "pod": ("run", "role", "pod"),
    "container": ("run", "role", "pod", "container"),
}
# The type in the model that a check of a subject is called with.
TYPES = {"object": "Resource", "run": "Run", "role": "Role", "pod": "Pod", "container": "Container"}


def values(subject: str, thing: Any, context: Context) -> dict[str, Any]:
    """Returns the value of each variable for one thing of the model."""
    if isinstance(thing, Resource):
        return {"object": thing.tree}
    known: dict[str, Any] = {"run": context.run, "role": context.role, "pod": context.pod, subject: thing}
    return {name: _READERS[name](known[name]) for name in VARIABLES[subject]}


def kind_of(thing: Any, context: Context) -> tuple[str, str]:
    """Returns the API version and the kind of the object that a thing belongs to."""
    run = thing if isinstance(thing, Run | Resource) else context.run
    return (run.api_version, run.kind) if run is not None else ("", "")


def name_of(thing: Any, context: Context) -> str:
    """Returns words for a thing in messages."""
    if isinstance(thing, Run | Resource):
        return f"{thing.kind} {thing.name}"
    run = f"{context.run.kind} {context.run.name}" if context.run is not None else "a pod"
    return f"container {thing.name} of {run}" if isinstance(thing, Container) else run


def _run(run: Run) -> dict[str, Any]:
    gpus = [_pod_gpus(role.pod) * role.replicas for role in run.roles if role.replicas is not None]
    return {
        "kind": run.kind,
        "apiVersion": run.api_version,
        "name": run.name,
        "namespace": run.namespace,
        "labels": run.labels,
        "annotations": run.annotations,
        "nodes": run.nodes,
        "processesPerNode": run.processes,
        "worldSize": run.world_size,
        "gpus": sum(gpus) if len(gpus) == len(run.roles) else None,
        "isJob": run.is_job,
        "roles": [_role(role) for role in run.roles],
        "spec": run.spec,
    }


def _role(role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "replicas": role.replicas,
        "restartPolicy": role.restart_policy,
        "trains": role.trains,
        "pod": _pod(role.pod),
        "spec": role.tree,
    }


def _pod(pod: Pod) -> dict[str, Any]:
    return {
        "labels": pod.labels,
        "annotations": pod.annotations,
        "hostNetwork": pod.host_network,
        "gpus": _pod_gpus(pod),
        "containers": [_container(container) for container in pod.containers],
        "initContainers": [_container(container) for container in pod.init_containers],
        "volumes": [{"name": volume.name, "kind": volume.kind, "spec": volume.body} for volume in pod.volumes],
        "spec": pod.tree,
    }


def _container(container: Container) -> dict[str, Any]:
    return {
        "name": container.name,
        "image": container.image,
        "command": list(container.command),
        "args": list(container.args),
        "env": {setting.name: setting.value for setting in container.settings},
        "gpus": container.gpus,
        "limits": container.limits,
        "requests": container.requests,
        "cpuLimit": parse_quantity(container.limits.get("cpu")),
        "memoryLimitBytes": parse_quantity(container.limits.get("memory")),
        "memoryRequestBytes": parse_quantity(container.requests.get("memory")),
        "mounts": [
            {"path": mount.mount_path, "volume": mount.volume, "readOnly": mount.read_only}
            for mount in container.mounts
        ],
        "privileged": container.privileged,
        "spec": container.tree,
    }


def _pod_gpus(pod: Pod) -> int:
    return sum(container.gpus for container in pod.containers)


_READERS: Mapping[str, Any] = {"run": _run, "role": _role, "pod": _pod, "container": _container}
