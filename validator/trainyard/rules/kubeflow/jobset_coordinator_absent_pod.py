"""The JobSet's coordinator is a pod that does not exist, or whose index cannot be checked, and the webhook refuses it.

`coordinator` names a replicated job, a `jobIndex` among its replicas and a `podIndex` among the pods of that Job;
every pod of the set gets the address as an annotation and a label. Both indexes count from 0, so the last of four is
3. The replicated job has to be indexed, which is the default, and to write `completions`: `parallelism` alone is not
looked at, and a coordinator without completions is refused as well.

A coordinator whose replicated job is missing altogether is reported by jobset-names-absent-job.

Let both indexes be 0 unless there is a reason, and write `completions` equal to `parallelism`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUNTIMES
from validator.fields import items, mapping, text, whole
from validator.model import Run
from validator.rule import Problem, rule


@rule(
    code="KF034",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: validateCoordinator",),
    needs=("JobSet",),
)
def jobset_coordinator_absent_pod(run: Run) -> Iterator[Problem]:
    """A coordinator that is none of the pods."""
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
    count = 1 if mapping(job).get("replicas") is None else whole(job, "replicas")
    index = whole(coordinator, "jobIndex") or 0
    if count is not None and not 0 <= index < count:
        yield Problem(
            at.child("coordinator", "jobIndex"),
            f"there is no Job {index} of `{text(job, 'name')}`: it has {count}, counted from 0",
            f"write a number below {count}",
        )
    # The trainer writes completions itself: only a JobSet has to say them.
    if run.kind == "JobSet":
        yield from _pod(job, whole(coordinator, "podIndex") or 0, run)


def _pod(job: object, index: int, run: Run) -> Iterator[Problem]:
    at, inner = run.at.child("spec", "coordinator"), mapping(job, "template", "spec")
    pods = whole(inner, "completions")
    if inner.get("completionMode") not in (None, "Indexed"):
        fault = "is not indexed, so its pods have no number"
        yield Problem(at.child("replicatedJob"), f"`{text(job, 'name')}` {fault}", "write completionMode: Indexed")
    elif inner.get("completions") is None:
        fault = "writes no completions, without which a coordinator is refused"
        yield Problem(at.child("replicatedJob"), f"`{text(job, 'name')}` {fault}", "write completions, as parallelism")
    elif pods is not None and not 0 <= index < pods:
        yield Problem(
            at.child("podIndex"),
            f"there is no pod {index} of `{text(job, 'name')}`: it has {pods}, counted from 0",
            f"write a number below {pods}",
        )
