"""The pods of this job are placed one by one, so two jobs that each get a part of their GPUs can block each other.

The default scheduler knows no groups. When a cluster is nearly full, some workers of a job start, hold their GPUs and
wait in the rendezvous for workers that find no room; a second job in the same state keeps the room that the first
needs. Both end in the rendezvous timeout and start again.

A gang scheduler places all pods or none: Volcano, the coscheduling plugin or KAI by `schedulerName`, or Kueue, which
admits the whole job, by the label `kueue.x-k8s.io/queue-name`. The training operator can be told to use a gang for
every job (`--gang-scheduler-name`), which no manifest shows: turn the rule off for such a cluster.

Elastic jobs, which start with fewer pods, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.known import pods_are_whole
from validator.facts.devices import wants_gpu
from validator.facts.kubeflow import RUNTIMES
from validator.facts.kueue import QUEUE
from validator.fields import mapping, text
from validator.model import Role, Run
from validator.rule import Problem, rule

# Labels and annotations by which a group, or the queue of a scheduler with gangs, is named.
GROUP_WORDS = ("pod-group", "group-name", "kai.scheduler/", "runai/", "volcano.sh/", "yunikorn.apache.org/")


@rule(
    code="TP001",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.0 pkg/controller.v1/common/job.go: EnableGangScheduling",
        "kueue.sigs.k8s.io/docs/concepts/workload: a workload is admitted as a whole",
    ),
)
def gang_not_scheduled(run: Run) -> Iterator[Problem]:
    """Jobs of several GPU pods without a gang."""
    if run.kind in RUNTIMES or run.elastic is not None or not pods_are_whole(run) or (run.nodes or 0) < 2:
        return
    if not any(wants_gpu(role.pod) for role in run.training_roles) or _queued(run):
        return
    if not any(_grouped(role) for role in run.roles):
        yield Problem(
            run.at.child("metadata", "name"),
            f"nothing places the {run.nodes} pods of {run.kind} {run.name} together",
            f"set `schedulerName` to a gang scheduler, or the label {QUEUE}",
        )


def _queued(run: Run) -> bool:
    if QUEUE in run.labels or _names_group((*run.labels, *run.annotations)):
        return True
    return bool(mapping(run.spec, "runPolicy", "schedulingPolicy") or mapping(run.runtime, "podGroupPolicy"))


def _grouped(role: Role) -> bool:
    pod = role.pod
    if "workloadRef" in pod.tree or "schedulingGates" in pod.tree:
        return True
    scheduler = text(pod.tree, "schedulerName")
    return scheduler not in ("", "default-scheduler") or _names_group((*pod.labels, *pod.annotations))


def _names_group(names: tuple[object, ...]) -> bool:
    return any(word in str(name) for name in names for word in GROUP_WORDS)
