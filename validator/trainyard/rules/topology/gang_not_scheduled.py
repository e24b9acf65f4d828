"""The pods of this job are not gang-scheduled, so two jobs that each hold some GPUs can block each other.

The default scheduler places pods one by one. In a nearly full cluster some workers of a job start, hold their GPUs and
wait in the rendezvous for workers that do not fit. A second job in the same state holds the capacity that the first
needs. Both reach the rendezvous timeout and start again.

A gang scheduler places all pods or none: Volcano, the coscheduling plugin or KAI by `schedulerName`, or Kueue, which
admits the whole job, by the label `kueue.x-k8s.io/queue-name`. The training operator can be configured to gang-schedule
every job (`--gang-scheduler-name`), which no manifest shows: turn the rule off for such a cluster.

The rule ignores elastic jobs, which start with fewer pods, and Jobs of Volcano, which are gangs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role, Run

# Parts of the labels and annotations that name a pod group, or a queue of a gang scheduler.
GROUP_WORDS = (
    *("pod-group", "group-name", "kai.scheduler/", "runai/", "volcano.sh/", "yunikorn.apache.org/"),
    *("ray.io/gang-", "ray.io/scheduler-name"),
)


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
    """Jobs of several GPU pods that are not gang-scheduled."""
    if (
        run.kind in RUNTIMES
        or is_volcano(run)
        or run.elastic is not None
        or not has_all_pods(run)
        or (run.nodes or 0) < 2
    ):
        return
    if not any(wants_gpu(role.pod) for role in run.training_roles) or _queued(run):
        return
    if not any(_grouped(role) for role in run.roles):
        yield Problem(
            run.at.child("metadata", "name"),
            f"the {run.nodes} pods of {run.kind} {run.name} are not gang-scheduled: "
            "some can start and hold GPUs while others stay Pending",
            f"set `schedulerName` to a gang scheduler, or add the label {QUEUE}",
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
