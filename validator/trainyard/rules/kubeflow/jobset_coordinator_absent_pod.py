"""The JobSet's coordinator is a pod that does not exist or cannot be checked, so the webhook rejects it.

`coordinator` names a replicated job, a `jobIndex` among its replicas and a `podIndex` among the pods of that Job;
every pod of the set gets the address as an annotation and a label. Both indexes start at 0, so the last of four is 3.
The replicated job must be indexed, which is the default, and must set `completions`: the webhook does not read
`parallelism`, and rejects a coordinator without completions as well.

`jobset-names-absent-job` reports a coordinator whose replicated job is missing altogether.

Use 0 for both indexes unless there is a reason, and set `completions` to the value of `parallelism`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Run


@rule(
    code="KF034",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: validateCoordinator",),
    needs=("JobSet",),
)
def jobset_coordinator_absent_pod(run: Run) -> Iterator[Problem]:
    """Report a coordinator that is not one of the pods."""
    inside = () if run.kind == "JobSet" else ("template", "spec")
    if run.kind not in ("JobSet", *RUNTIMES):
        return
    spec, at = mapping(run.spec, *inside), run.at.child("spec", *inside)
    coordinator = mapping(spec, "coordinator")
    job = next(
        (job for job in items(spec, "replicatedJobs") if text(job, "name") == coordinator.get("replicatedJob")), None
    )
    if not coordinator or job is None:
        return
    count = 1 if mapping(job).get("replicas") is None else integer(job, "replicas")
    index = integer(coordinator, "jobIndex") or 0
    if count is not None and not 0 <= index < count:
        yield Problem(
            at.child("coordinator", "jobIndex"),
            f"`{text(job, 'name')}` has no Job {index}: it has {count}, counted from 0",
            f"write a number below {count}",
        )
    # The trainer sets completions itself; only a JobSet must contain them.
    if run.kind == "JobSet":
        yield from _pod(job, integer(coordinator, "podIndex") or 0, run)


def _pod(job: object, index: int, run: Run) -> Iterator[Problem]:
    at, inner = run.at.child("spec", "coordinator"), mapping(job, "template", "spec")
    pods = integer(inner, "completions")
    if inner.get("completionMode") not in (None, "Indexed"):
        fault = "is not indexed, so its pods have no index"
        yield Problem(at.child("replicatedJob"), f"`{text(job, 'name')}` {fault}", "write completionMode: Indexed")
    elif inner.get("completions") is None:
        fault = "has no completions, which a coordinator needs"
        yield Problem(
            at.child("replicatedJob"), f"`{text(job, 'name')}` {fault}", "set completions to the value of parallelism"
        )
    elif pods is not None and not 0 <= index < pods:
        yield Problem(
            at.child("podIndex"),
            f"`{text(job, 'name')}` has no pod {index}: it has {pods}, counted from 0",
            f"write a number below {pods}",
        )
