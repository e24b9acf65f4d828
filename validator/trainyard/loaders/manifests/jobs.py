"""Loads jobs of every kind as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import decimal, integer, items, mapping, text
from trainyard.facts.kubeflow import JOB_KINDS, REPLICA_FIELDS, RUNTIMES, SUPPORTING_ROLES
from trainyard.facts.launchers import Launcher, launcher_in
from trainyard.loaders.manifests import train_jobs
from trainyard.loaders.manifests.pods import ConfigMaps, load_pod, load_template
from trainyard.loaders.manifests.templates import may_hold_pods, templates
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Resource, Role, Run

# Scripts that start a launcher take these options too.
_PROCESSES = ("--nproc-per-node", "--num-gpus")
Runtimes = Mapping[str, Sequence[Resource]]


def load_run(resource: Resource, config_maps: ConfigMaps, runtimes: Runtimes) -> Run | None:
    """Returns the run that an object describes, or None if it is of another kind and holds no pods."""
    spec = mapping(resource.tree, "spec")
    at = resource.at.child("spec")
    runtime = None
    is_known = is_job(resource)
    if not is_known:
        roles = tuple(_roles_of_any(resource, config_maps))
        if not roles:
            return None
    elif resource.kind in REPLICA_FIELDS:
        roles = tuple(_replica_roles(resource, spec, at, config_maps))
    elif resource.kind == "TrainJob":
        runtime = _runtime(resource, spec, runtimes)
        roles = tuple(_train_job_roles(resource, spec, runtime, config_maps))
    elif resource.kind in RUNTIMES:
        roles = tuple(role for role, _ in _runtime_roles(resource, resource, None, config_maps))
    elif resource.kind == "JobSet":
        roles = tuple(role for role, _ in _job_set_roles(spec, at, resource, config_maps))
    else:
        roles = (_job_role("Job", spec, at, resource, config_maps, integer(spec, "parallelism") or 1),)
    runtime_spec = mapping(runtime.tree, "spec") if runtime is not None else None
    return Run(
        kind=resource.kind,
        api_version=resource.api_version,
        name=resource.name,
        namespace=resource.namespace,
        labels=mapping(resource.tree, "metadata", "labels"),
        annotations=mapping(resource.tree, "metadata", "annotations"),
        roles=roles,
        processes=_processes(resource.kind, spec, runtime_spec, roles),
        spec=spec,
        runtime=runtime_spec,
        at=resource.at,
        is_job=is_known,
    )


def is_job(resource: Resource) -> bool:
    """True if the kind is one of a training run, whose roles and counts are known."""
    if resource.kind in REPLICA_FIELDS:
        return resource.api_version.startswith("kubeflow.org/")
    return resource.kind in JOB_KINDS and (resource.kind != "Job" or resource.api_version == "batch/v1")


def _roles_of_any(resource: Resource, config_maps: ConfigMaps) -> Iterator[Role]:
    """Yields a role for each template of a pod in an object of another kind. Its number of pods is not known."""
    if not may_hold_pods(resource):
        return
    for found in templates(resource.tree):
        at = resource.at.child(*found.path)
        holder = resource.at.child(*found.path[:-1])
        pod = load_template(found, at, holder, resource.namespace, config_maps)
        main = next((index for index, container in enumerate(pod.containers) if container.gpus), 0)
        trains = any(container.gpus or _launcher(container)[0] for container in pod.containers)
        policy = text(found.spec, "restartPolicy") or None
        yield Role(text(found.owner, "name"), None, policy, pod, main, trains, found.owner, holder)


def _runtime(resource: Resource, spec: dict[str, Any], runtimes: Runtimes) -> Resource | None:
    """Returns the runtime of a TrainJob; if the files hold several, for different clusters, the one of its own file."""
    kind, name = text(spec, "runtimeRef", "kind") or "ClusterTrainingRuntime", text(spec, "runtimeRef", "name")
    known, source = _last_runtimes.of(runtimes), id(resource.at.document.source)
    for origin in (source, None):
        for namespace in (resource.namespace, ""):
            if (found := known.get((kind, name, namespace, origin))) is not None:
                return found
    return None


def _last_of_each_name(runtimes: Runtimes) -> dict[tuple[str, str, str, int | None], Resource]:
    """Returns the last runtime of each kind, name and namespace, of each file and, with None, of all files."""
    known: dict[tuple[str, str, str, int | None], Resource] = {}
    for runtime in (one for kind in RUNTIMES for one in runtimes.get(kind, ())):
        for origin in (id(runtime.at.document.source), None):
            known[runtime.kind, runtime.name, runtime.namespace, origin] = runtime
    return known


# Copies of a job and its runtime would be compared with each other in quadratic time.
_last_runtimes = LastIndex(_last_of_each_name)


def _replica_roles(resource: Resource, spec: dict[str, Any], at: Place, config_maps: ConfigMaps) -> Iterator[Role]:
    field, main = REPLICA_FIELDS[resource.kind]
    for name, tree in mapping(spec, field).items():
        if not isinstance(tree, dict):
            continue
        place = at.child(field, name)
        template = load_pod(mapping(tree, "template"), place.child("template"), resource.namespace, config_maps)
        # The operators' default is one pod, but an MPIJob without `replicas` has no worker at all.
        default = 0 if resource.kind == "MPIJob" and name == "Worker" else 1
        replicas = integer(tree, "replicas") if tree.get("replicas") is not None else default
        trains = name not in SUPPORTING_ROLES or spec.get("runLauncherAsWorker") is True
        policy = text(tree, "restartPolicy") or None
        yield Role(name, replicas, policy, template, _main(template, main), trains, tree, place)


def _main(template: Pod, *names: str) -> int:
    for index, container in enumerate(template.containers):
        if container.name in names:
            return index
    return 0


def _job_role(
    name: str, spec: dict[str, Any], at: Place, resource: Resource, config_maps: ConfigMaps, replicas: int
) -> Role:
    template = load_pod(mapping(spec, "template"), at.child("template"), resource.namespace, config_maps)
    policy = text(template.tree, "restartPolicy") or None
    return Role(name, replicas, policy, template, _main(template, "node"), name not in SUPPORTING_ROLES, spec, at)


def _job_set_roles(
    spec: dict[str, Any], at: Place, resource: Resource, config_maps: ConfigMaps
) -> Iterator[tuple[Role, dict[str, Any]]]:
    for index, job in enumerate(items(spec, "replicatedJobs")):
        if isinstance(job, dict):
            inner = mapping(job, "template", "spec")
            pods = 1 if inner.get("parallelism") is None else integer(inner, "parallelism") or 0
            count = (1 if job.get("replicas") is None else integer(job, "replicas") or 0) * pods
            place = at.child("replicatedJobs", index, "template", "spec")
            yield _job_role(text(job, "name"), inner, place, resource, config_maps, count), job


def _runtime_roles(
    runtime: Resource, owner: Resource, nodes: int | None, config_maps: ConfigMaps
) -> Iterator[tuple[Role, dict[str, Any]]]:
    spec = mapping(runtime.tree, "spec")
    policy = mapping(spec, "mlPolicy")
    nodes = nodes if nodes is not None else integer(policy, "numNodes")
    at = runtime.at.child("spec", "template", "spec")
    for role, job in _job_set_roles(mapping(spec, "template", "spec"), at, owner, config_maps):
        yield train_jobs.in_runtime(role, job, policy, nodes), job


def _train_job_roles(
    resource: Resource, spec: dict[str, Any], runtime: Resource | None, config_maps: ConfigMaps
) -> Iterator[Role]:
    if runtime is None:
        yield train_jobs.without_runtime(resource, spec, config_maps)
        return
    for role, job in _runtime_roles(runtime, resource, integer(spec, "trainer", "numNodes"), config_maps):
        yield train_jobs.under_train_job(role, job, resource, spec, config_maps)


def _processes(kind: str, spec: dict[str, Any], runtime: dict[str, Any] | None, roles: tuple[Role, ...]) -> int | None:
    """Returns the number of training processes in each pod: the launcher's option, or one for each GPU."""
    training = next((role for role in roles if role.trains), None)
    container = training.container if training is not None else None
    launcher, told = _launcher(container)
    if kind == "PyTorchJob":
        told = told or spec.get("nprocPerNode") or mapping(spec, "elasticPolicy").get("nProcPerNode")
        told = told or ("auto" if launcher else "unknown")
    elif kind == "MPIJob":
        told = spec.get("slotsPerWorker", 1)
    elif kind in ("TrainJob", *RUNTIMES):
        told = told or _processes_of_policy(spec, runtime if kind == "TrainJob" else spec, launcher)
    elif launcher is not None and launcher.is_greedy:
        told = told or "auto"
    if isinstance(told, int):
        return told
    if isinstance(told, str) and (number := decimal(told)) is not None:
        return number
    if told in ("auto", "gpu"):
        return _gpus(container)
    return 1 if told is None else None


def _launcher(container: Container | None) -> tuple[Launcher | None, Any]:
    """Returns the launcher of a container, and the number of processes that it is to start."""
    launcher, told = None, None
    for command in container.commands if container is not None else ():
        start = launcher_in(command.words)
        # Others hand the program to machines of their own, or read variables that are not in the files.
        if start is not None and (start.launcher.per_node or start.launcher.total or start.launcher.is_greedy):
            launcher = start.launcher
            told = command.option(*_PROCESSES, *launcher.per_node) or told
    setting = container.setting("PET_NPROC_PER_NODE") if container is not None else None
    return launcher, told or (setting.value if setting is not None else None)


def _processes_of_policy(spec: dict[str, Any], runtime: dict[str, Any] | None, launcher: Launcher | None) -> Any:
    own = mapping(spec, "trainer").get("numProcPerNode")
    if own is not None:
        return own
    if runtime is None:
        return "auto" if launcher else "unknown"
    policy = mapping(runtime, "mlPolicy")
    if "torch" in policy:
        return mapping(policy, "torch").get("numProcPerNode") or "auto"
    if "mpi" in policy:
        # An MPI runtime that requests one process gets one for each GPU.
        slots = mapping(policy, "mpi").get("numProcPerNode", 1)
        return slots if slots != 1 else "auto"
    return None


def _gpus(container: Any) -> int | None:
    for resources in (container.limits, container.requests) if container is not None else ():
        for name, quantity in resources.items():
            if name.endswith("/gpu") and (number := decimal(str(quantity))) is not None:
                return number
    return None
