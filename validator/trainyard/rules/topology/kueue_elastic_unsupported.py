"""Kueue cannot resize jobs of this kind, and newer releases reject the annotation that asks for it.

The annotation `kueue.x-k8s.io/elastic-job: "true"` lets Kueue change the number of pods of an admitted job with
workload slices. It works for `batch/v1` Jobs and for Ray's RayJob, RayCluster and RayService. Kueue v0.18 and later
reject a job of any other kind when it is created; earlier releases queued it but never changed its size.

For a PyTorchJob, `elasticPolicy` changes the number of workers within the quota that Kueue admitted: Kueue counts the
replicas that the job starts with. Remove the annotation and request the size that the job needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import JOB_KINDS, RUNTIMES
from trainyard.facts.jobs.kueue import ELASTIC
from trainyard.model.run import Run


@rule(
    code="TP005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.18.0 pkg/controller/jobframework/validation.go: ValidateElasticJobAnnotation",
        "kubernetes-sigs/kueue v0.14.0 pkg/workloadslicing/workloadslicing.go: Enabled",
    ),
    needs=(ELASTIC,),
)
def kueue_elastic_unsupported(run: Run) -> Iterator[Problem]:
    """The elastic-job annotation on a kind that does not support it."""
    if run.annotations.get(ELASTIC) == "true" and _refused(run):
        yield Problem(
            run.at.child("metadata", "annotations", ELASTIC),
            f"Kueue cannot resize a {run.kind}: v0.18 and later reject the job",
            "remove the annotation",
        )


def _refused(run: Run) -> bool:
    """Returns true for kinds that Kueue manages and cannot resize."""
    return run.kind in JOB_KINDS and run.kind not in ("Job", *RUNTIMES)
