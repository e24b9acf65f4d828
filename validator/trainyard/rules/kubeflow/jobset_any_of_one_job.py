"""The success policy of the JobSet says `Any` of one Job, which is the same as `All`: it waits for all pods of the Job.

`successPolicy` counts Jobs and not pods. With `operator: Any` the JobSet succeeds when the first of the Jobs in
`targetReplicatedJobs` completes, and a Job completes with all of its `completions`. If `replicas` is 1, there is one
such Job, so the first pod that succeeds ends nothing, and a pod that fails may fail the Job and the whole JobSet.

Raise `replicas`, with one pod in each Job, or write a `successPolicy` of the Job for its indexes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF056",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/jobset v0.9.1 pkg/controllers/success_policy.go: numJobsExpectedToSucceed, "
        "jobMatchesSuccessPolicy",
        "github.com/kubernetes-sigs/jobset issue 1042",
    ),
    needs=("JobSet",),
)
def jobset_any_of_one_job(run: Run) -> Iterator[Problem]:
    """Report `Any` of one Job with several pods."""
    policy = mapping(run.spec, "successPolicy")
    if run.kind != "JobSet" or policy.get("operator") != "Any":
        return
    targets = items(policy, "targetReplicatedJobs")
    jobs = [job for job in items(run.spec, "replicatedJobs") if not targets or text(job, "name") in targets]
    if len(jobs) != 1 or not isinstance(jobs[0], dict) or jobs[0].get("replicas", 1) != 1:
        return
    spec = mapping(jobs[0], "template", "spec")
    # The first pod that succeeds completes a Job without `completions`.
    pods = integer(spec, "completions")
    if pods is not None and pods > 1 and "successPolicy" not in spec:
        yield Problem(
            run.at.child("spec", "successPolicy", "operator"),
            f"`Any` counts Jobs, and `{text(jobs[0], 'name')}` is one Job: the JobSet waits for its {pods} pods",
            "write several replicas with one pod each, or a successPolicy of the Job",
        )
