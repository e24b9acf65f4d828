"""The meaning of a run as facts with a topic, a name and the role that has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.commands.diff.pods import Fact, own_labels, plain, pod_facts
from trainyard.document.lookup import mapping
from trainyard.facts.jobs.kubeflow import default_restart_policy
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role, Run

# In the order of a report.
TOPICS = (
    "image", "program", "roles", "resources", "environment", "NCCL", "volumes", "placement", "policies", "pods",
    "versions",
)  # fmt: skip
# Topic, name and role; the role is empty for a fact of the whole run.
Key = tuple[str, str, str]

# Fields of a job that other facts hold.
_SPEC = (
    "runPolicy", "nprocPerNode", "slotsPerWorker", "trainer", "runtimeRef", "replicatedJobs", "podTemplateOverrides",
    "podSpecOverrides", "runtimePatches", "suspend", "template",
)  # fmt: skip
_OF_ROLE = ("replicas", "restartPolicy", "template", "parallelism", "completions", "completionMode")
# Defaults of the operators: kubeflow/training-operator v1.9.3 and kubeflow/mpi-operator v0.8.2, pkg/apis.
_POLICIES = {
    "cleanPodPolicy": "None",
    "suspend": False,
    "mpiImplementation": "OpenMPI",
    "sshAuthMountPath": "/root/.ssh",
}


def facts(run: Run, *, alone: bool = False) -> dict[Key, Any]:
    """Returns the facts of a run. With `alone`, only one role counts: runs of other kinds have other roles."""
    found: dict[Key, Any] = {(topic, name, ""): value for topic, name, value in _of_run(run)}
    if not alone:
        found |= {("roles", f"replicas of {role.name}", ""): role.replicas for role in run.roles}
    roles = run.training_roles[-1:] if alone else run.roles
    for role in roles:
        own = "" if alone else role.name
        found |= {(topic, name, own): value for topic, name, value in _of_role(run, role)}
    return {key: value for key, value in found.items() if value not in (None, {}, [])}


def _of_run(run: Run) -> Iterator[Fact]:
    yield "versions", "apiVersion", run.api_version
    yield "versions", "chart", run.labels.get("helm.sh/chart")
    yield "versions", "runtime", mapping(run.spec, "runtimeRef").get("name") if run.runtime is None else None
    yield "roles", "kind", run.kind
    yield "roles", "nodes", run.nodes
    yield "roles", "processes of each pod", run.processes
    queue = run.labels.get(QUEUE)
    yield "placement", "queue", queue
    for kind, tree in (("label", run.labels), ("annotation", run.annotations)):
        yield from (("policies", f"{kind} {name}", value) for name, value in own_labels(tree).items() if name != QUEUE)
    policy = mapping(run.spec, "runPolicy")
    yield from _policies("runPolicy.", policy, queued=bool(queue))
    yield from _policies("", {key: value for key, value in run.spec.items() if key == "suspend"}, queued=bool(queue))
    for field, value in run.spec.items():
        if field not in _SPEC and not field.endswith("ReplicaSpecs"):
            yield from _policies("", {field: value}, queued=bool(queue))
    if run.runtime is not None:
        template = mapping(run.runtime, "template", "spec")
        own = {key: value for key, value in template.items() if key != "replicatedJobs"}
        own |= {key: value for key, value in run.runtime.items() if key not in ("template", "mlPolicy")}
        yield from _policies("runtime.", own, queued=bool(queue))


def _policies(prefix: str, tree: dict[str, Any], *, queued: bool) -> Iterator[Fact]:
    for field, value in tree.items():
        # Kueue suspends each job of a queue, and resumes it.
        if _POLICIES.get(field) == value or (field == "suspend" and queued):
            continue
        if isinstance(value, dict):
            yield from (("policies", f"{prefix}{field}.{key}", inner) for key, inner in plain(value).items())
        else:
            yield "policies", f"{prefix}{field}", plain(value)


def _of_role(run: Run, role: Role) -> Iterator[Fact]:
    yield (
        "policies",
        "restartPolicy",
        role.restart_policy or default_restart_policy(run.kind, run.api_version, role.name),
    )
    own = {key: value for key, value in role.tree.items() if key not in _OF_ROLE}
    yield from _policies("job.", own, queued=False)
    known = {"torchrun --nnodes": str(run.nodes), "torchrun --nproc-per-node": str(run.processes)}
    for topic, name, value in pod_facts(role.pod, role.container):
        # The operator gives torchrun the same numbers.
        if not (topic == "program" and known.get(name) == value):
            yield topic, name, value
