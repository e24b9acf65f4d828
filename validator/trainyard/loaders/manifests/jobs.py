"""Loads jobs of every kind as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.kubeflow import JOB_KINDS, REPLICA_FIELDS, RUNTIMES, SUPPORTING_ROLES
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.jobs.training_runtimes import shipped_policy
from trainyard.facts.jobs.workloads import PLAIN, is_workload
from trainyard.loaders.manifests import train_jobs
from trainyard.loaders.manifests.pods import ConfigMaps, load_pod, load_template
from trainyard.loaders.manifests.processes import launcher_of, processes
from trainyard.loaders.manifests.templates import may_hold_pods, templates
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Resource, Role, Run

if TYPE_CHECKING:
    from trainyard.loaders.manifests.workloads import Workload

Runtimes = Mapping[str, Sequence[Resource]]


def load_run(resource: Resource, config_maps: ConfigMaps, runtimes: Runtimes) -> Run | None:
    """Returns the run that an object describes, or None if it is of another kind and holds no pods."""
    spec = mapping(resource.tree, "spec")
    runtime, groups, trains = None, 1, True
    if _is_training_job(resource):
        runtime = _runtime(resource, spec, runtimes) if resource.kind == "TrainJob" else None
        roles = tuple(_training_roles(resource, spec, runtime, config_maps))
    elif (found := _workload(resource, config_maps)) is not None:
        roles, groups, trains = found
    else:
        roles, trains = tuple(_roles_of_any(resource, config_maps)), False
    if not roles and not is_job(resource):
        return None
    runtime_spec = mapping(runtime.tree, "spec") if runtime is not None else None
    return Run(
        kind=resource.kind,
        api_version=resource.api_version,
        name=resource.name,
        namespace=resource.namespace,
        labels=_labels(resource),
        annotations=mapping(resource.tree, "metadata", "annotations"),
        roles=roles,
        processes=processes(resource.kind, spec, runtime_spec or shipped_policy(spec), roles),
        spec=spec,
        runtime=runtime_spec,
        at=resource.at,
        is_job=trains,
        groups=groups,
    )


def is_job(resource: Resource) -> bool:
    """True if the kind is one of a training run, whose roles and counts are known."""
    return _is_training_job(resource) or is_workload(resource.api_version, resource.kind)


def _is_training_job(resource: Resource) -> bool:
    if resource.kind in REPLICA_FIELDS:
        return resource.api_version.startswith("kubeflow.org/")
    return resource.kind in JOB_KINDS and (resource.kind != "Job" or resource.api_version == "batch/v1")


def _training_roles(
    resource: Resource, spec: dict[str, Any], runtime: Resource | None, config_maps: ConfigMaps
) -> Iterator[Role]:
    """Yields the roles of a job of Kubeflow, JobSet or Kubernetes."""
    at = resource.at.child("spec")
    if resource.kind in REPLICA_FIELDS:
        yield from _replica_roles(resource, spec, at, config_maps)
    elif resource.kind == "TrainJob":
        yield from _train_job_roles(resource, spec, runtime, config_maps)
    elif resource.kind in RUNTIMES:
        yield from (role for role, _ in _runtime_roles(resource, resource, None, config_maps))
    elif resource.kind == "JobSet":
        yield from (role for role, _ in _job_set_roles(spec, at, resource, config_maps))
    else:
        yield _job_role("Job", spec, at, resource, config_maps, _pods_at_once(spec))


def _workload(resource: Resource, config_maps: ConfigMaps) -> Workload | None:
    """Returns the roles of a job of another operator, or of a controller of Kubernetes."""
    if not (is_workload(resource.api_version, resource.kind) or resource.kind in PLAIN):
        return None
    from trainyard.loaders.manifests.workloads import load_workload

    return load_workload(resource, config_maps)


def _labels(resource: Resource) -> dict[str, Any]:
    """Returns the labels of an object; Kueue queues the jobs of an AppWrapper by the label of the AppWrapper."""
    own, wrapper = mapping(resource.tree, "metadata", "labels"), resource.wrapper
    if wrapper is None or wrapper.kind != "AppWrapper":
        return own
    queue = mapping(wrapper.tree, "metadata", "labels").get(QUEUE)
    return {QUEUE: queue, **own} if queue else own


def _roles_of_any(resource: Resource, config_maps: ConfigMaps) -> Iterator[Role]:
    """Yields a role for each template of a pod in an object of another kind. Its number of pods is not known."""
    if not may_hold_pods(resource):
        return
    for found in templates(resource.tree):
        at = resource.at.child(*found.path)
        holder = resource.at.child(*found.path[:-1])
        pod = load_template(found, at, holder, resource.namespace, config_maps)
        main = next((index for index, container in enumerate(pod.containers) if container.gpus), 0)
        trains = any(container.gpus or launcher_of(container)[0] for container in pod.containers)
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


def _pods_at_once(spec: dict[str, Any]) -> int | None:
    """Returns the number of pods that a Job runs at the same time: never more than its completions."""
    pods = 1 if spec.get("parallelism") is None else integer(spec, "parallelism")
    completions = integer(spec, "completions")
    return min(pods, completions) if pods is not None and completions is not None else pods


def _job_role(
    name: str, spec: dict[str, Any], at: Place, resource: Resource, config_maps: ConfigMaps, replicas: int | None
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
            pods = _pods_at_once(inner)
            jobs = 1 if job.get("replicas") is None else integer(job, "replicas")
            count = jobs * pods if jobs is not None and pods is not None else None
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
