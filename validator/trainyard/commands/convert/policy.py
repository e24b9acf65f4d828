"""Policies of a job: replicas, restarts, the end of the run, queues, gangs, and elastic runs."""

from __future__ import annotations

from typing import Any

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.roles import Part, Tree
from trainyard.commands.convert.tables import (
    GANG_SCHEDULERS,
    POLICY_FIELDS,
    QUEUE_LABELS,
    V2,
    WRITTEN_BY_TOOLS,
)
from trainyard.document.lookup import decimal, items, mapping, text
from trainyard.facts.jobs.kubeflow import default_restart_policy
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Run

# Fields of the rendezvous' configuration that have a value.
_CONF = {
    "join_timeout": "torchrun.timeoutSeconds",
    "read_timeout": "torchrun.timeoutSeconds",
    "last_call_timeout": "elastic.lastCallSeconds",
    "keep_alive_interval": "elastic.keepAliveSeconds",
}


def put_policy(draft: Draft, run: Run, parts: list[Part], node: Part) -> None:
    """Writes the policies of a run. `node` is the role whose pods are the nodes of the run."""
    put_labels(draft, run)
    policy = mapping(run.spec, "runPolicy")
    if run.kind in V2:
        policy = _put_job(draft, run, node)
    _put_restarts(draft, run, parts, node, policy)
    if draft.kind == "TrainJob":
        policy = _for_train_job(draft, policy)
    draft.put("runPolicy.cleanPodPolicy", policy.get("cleanPodPolicy", "None"))
    for field in POLICY_FIELDS:
        draft.put(f"runPolicy.{field}", policy.get(field))
    if policy.get("suspend") is True and QUEUE not in run.labels:
        draft.put("runPolicy.suspend", True)
    _put_gang(draft, run, policy, node)


def put_labels(draft: Draft, run: Run) -> None:
    """Writes the labels and annotations of the job."""
    labels: dict[str, Any] = {}
    for name, value in run.labels.items():
        if name in QUEUE_LABELS:
            draft.put(QUEUE_LABELS[name], value)
        elif name.startswith("kueue.x-k8s.io/"):
            draft.lost.append(f"label {name}: the chart has no value for it")
        elif not name.startswith(WRITTEN_BY_TOOLS):
            labels[name] = str(value)
    draft.put("jobLabels", labels)
    annotations = {}
    for name, value in run.annotations.items():
        if name.startswith("kueue.x-k8s.io/"):
            draft.lost.append(f"annotation {name}: the chart has no value for it")
        elif not name.startswith(WRITTEN_BY_TOOLS):
            annotations[name] = str(value)
    draft.put("jobAnnotations", annotations)


def _put_restarts(draft: Draft, run: Run, parts: list[Part], node: Part, policy: Tree) -> None:
    wanted = _restart_policy(run, node)
    if run.kind == "MPIJob":
        launcher = next((part for part in parts if part.name == "Launcher"), node)
        wanted = launcher.restart_policy or default_restart_policy(run.kind, run.api_version, "Launcher")
        if wanted not in ("OnFailure", "Never"):
            wanted = "OnFailure"
    else:
        for part in parts:
            own = _restart_policy(run, part)
            if own != wanted:
                draft.lost.append(f"{part.name}: restartPolicy {own}; the chart has one for all pods, {wanted}")
    if wanted == "Always" and draft.kind == "TrainJob":
        draft.lost.append("restartPolicy Always: a TrainJob restarts pods that fail")
        wanted = "OnFailure"
    draft.put("restartPolicy", wanted)
    limit = policy.get("backoffLimit")
    if limit is None and run.kind == "MPIJob" and run.api_version.endswith("v2beta1"):
        # The default of the launcher's Job.
        limit = 6
    draft.put("runPolicy.backoffLimit", limit)


def _restart_policy(run: Run, part: Part) -> str:
    return part.restart_policy or default_restart_policy(run.kind, run.api_version, part.name)


def _put_job(draft: Draft, run: Run, node: Part) -> Tree:
    """Returns the policy of a JobSet's or TrainJob's Job in the form of a runPolicy, and notes what is lost."""
    job = node.tree if run.kind == "JobSet" or run.runtime is not None else {}
    holder = run.spec if run.kind == "JobSet" else mapping(run.runtime or {}, "template", "spec")
    for name, tree, fields in (
        ("", holder, ("failurePolicy", "successPolicy", "startupPolicy", "coordinator")),
        (f"{node.name}: ", job, ("podFailurePolicy", "successPolicy", "backoffLimitPerIndex")),
    ):
        for field in fields:
            if tree.get(field) and not _is_usual(tree[field], node.name):
                draft.lost.append(f"{name}{field}: the chart has no value for it")
    policy: Tree = {
        key: job[key] for key in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished") if key in job
    }
    own = ("suspend", "managedBy", "ttlSecondsAfterFinished", "activeDeadlineSeconds")
    policy |= {key: run.spec[key] for key in own if run.spec.get(key) is not None}
    # The default of a Job.
    policy.setdefault("backoffLimit", 6)
    return policy


def _for_train_job(draft: Draft, policy: Tree) -> Tree:
    """Returns a policy without what a TrainJob does not have."""
    policy = dict(policy)
    if policy.get("cleanPodPolicy") == "All":
        draft.lost.append("cleanPodPolicy All: the Job of a TrainJob keeps finished pods; see ttlSecondsAfterFinished")
    # Pods that still run end with a TrainJob anyway.
    policy.pop("cleanPodPolicy", None)
    if policy.get("managedBy") == "kubeflow.org/training-operator":
        del policy["managedBy"]
    gang = dict(mapping(policy, "schedulingPolicy"))
    for field in ("minResources", "priorityClass"):
        if gang.pop(field, None):
            draft.changes.append(f"schedulingPolicy.{field} has no value: Trainer derives it from the pods")
    if gang:
        policy["schedulingPolicy"] = gang
    else:
        policy.pop("schedulingPolicy", None)
    return policy


def _is_usual(policy: Any, name: str) -> bool:
    """Returns true for a success policy of the nodes alone, which a JobSet of one group of pods has anyway."""
    usual = isinstance(policy, dict) and policy.get("operator") == "All"
    return (
        usual
        and policy.get("targetReplicatedJobs", [name]) == [name]
        and set(policy) <= {"operator", "targetReplicatedJobs"}
    )


def _put_gang(draft: Draft, run: Run, policy: Tree, node: Part) -> None:
    scheduler = text(node.template, "spec", "schedulerName")
    gang = mapping(policy, "schedulingPolicy")
    group = mapping(run.runtime or {}, "podGroupPolicy")
    known = GANG_SCHEDULERS.get(scheduler, "")
    if "volcano" in group:
        known = "volcano"
    elif "coscheduling" in group:
        known = "scheduler-plugins"
        gang = {"scheduleTimeoutSeconds": mapping(group, "coscheduling").get("scheduleTimeoutSeconds")}
    if not known:
        if gang:
            reason = "the job does not name the scheduler; set scheduling.gang.scheduler"
            draft.lost.append(f"runPolicy.schedulingPolicy: {reason}")
        return
    draft.put("scheduling.gang.scheduler", known)
    draft.put("scheduling.gang.queue", gang.get("queue", ""))
    if gang.get("priorityClass") != mapping(node.template, "spec").get("priorityClassName"):
        draft.put("scheduling.gang.priorityClassName", gang.get("priorityClass", ""))
    draft.put("scheduling.gang.timeoutSeconds", gang.get("scheduleTimeoutSeconds"))
    draft.put("scheduling.gang.minResources", gang.get("minResources", {}))
    pods = sum(role.replicas or 0 for role in run.roles)
    least = gang.get("minAvailable")
    if least not in (None, pods) and run.elastic is None:
        draft.lost.append(f"schedulingPolicy.minAvailable {least}: the chart starts all {pods} pods or none")


def put_elastic(draft: Draft, run: Run) -> None:
    """Writes the elastic policy of a PyTorchJob."""
    policy = run.elastic
    if policy is None:
        return
    draft.put("elastic.enabled", True)
    draft.put("elastic.minNodes", policy.get("minReplicas"))
    most = policy.get("maxReplicas")
    draft.put("elastic.maxNodes", most if most != run.nodes else None)
    # The operator's default: torchrun's own is 0.
    draft.put("elastic.maxRestarts", policy.get("maxRestarts", 0))
    draft.put("elastic.metrics", policy.get("metrics", []))
    is_own = text(policy, "rdzvBackend") in ("", "c10d") and not text(policy, "rdzvHost")
    if policy.get("rdzvPort") and is_own:
        draft.put("torchrun.port", policy["rdzvPort"])
    if not is_own:
        at = f"{policy.get('rdzvBackend')} at {policy.get('rdzvHost')}"
        draft.lost.append(f"elasticPolicy: the rendezvous of {at}; the chart's is c10d at the first worker")
    for entry in items(policy, "rdzvConf"):
        path, number = _CONF.get(text(entry, "key")), decimal(str(entry.get("value")))
        if path is None or number is None:
            draft.lost.append(f"elasticPolicy.rdzvConf {entry.get('key')}: the chart has no value for it")
        else:
            draft.put(path, number)
