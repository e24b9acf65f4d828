"""The Job is indexed and sets `parallelism` without `completions`, so the API server rejects it.

An indexed Job needs `completions`. Kubernetes sets it to 1 only if `parallelism` is missing as well. JobSet makes each
of its jobs indexed unless `completionMode` says otherwise. The JobSet itself is accepted, and its controller fails
repeatedly with `spec.completions: Required value: when completion mode is Indexed`: there are no pods.

Set `completions` to the value of `parallelism`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF037",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/jobset/issues/241: an indexed job without completions",
        "kubernetes v1.34 pkg/apis/batch/validation/validation.go: validateJobSpec, completions required when Indexed",
        "kubernetes v1.34 pkg/apis/batch/v1/defaults.go: SetDefaults_Job",
        "kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: Default sets completionMode",
    ),
    needs=("parallelism",),
)
def jobset_indexed_without_completions(run: Run) -> Iterator[Problem]:
    """Report indexed jobs without completions."""
    jobs = [(run.spec, run.at.child("spec"), "")] if is_batch_job(run) else []
    if run.kind == "JobSet":
        at = run.at.child("spec", "replicatedJobs")
        coordinator = text(run.spec, "coordinator", "replicatedJob")
        for index, job in enumerate(items(run.spec, "replicatedJobs")):
            # The webhook looks at the job of the coordinator, about which there is another rule.
            if coordinator and text(job, "name") == coordinator:
                continue
            jobs.append((mapping(job, "template", "spec"), at.child(index, "template", "spec"), text(job, "name")))
    for spec, place, name in jobs:
        indexed = ("Indexed",) if not name else ("Indexed", None)
        is_faulty = spec.get("parallelism") is not None and spec.get("completions") is None
        if is_faulty and spec.get("completionMode") in indexed:
            yield Problem(
                place.child("parallelism"),
                f"{f'`{name}`' if name else 'the Job'} is indexed and has no completions: the API server rejects it",
                "set completions to the value of parallelism",
            )
