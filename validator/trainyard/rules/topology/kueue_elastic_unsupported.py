"""Kueue grows and shrinks no job of this kind, and newer releases refuse one that asks for it.

The annotation `kueue.x-k8s.io/elastic-job: "true"` lets Kueue change the number of pods of an admitted job by workload
slices. It works for `batch/v1` Jobs and for Ray's RayJob, RayCluster and RayService. On any other kind Kueue v0.18 and
later reject the job when it is created, and earlier releases took it into the queue without ever changing its size.

For a PyTorchJob `elasticPolicy` changes the number of workers within what Kueue admitted once: it counts the replicas
that the job starts with. Remove the annotation and let the job ask for the size that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUNTIMES
from validator.facts.kueue import ELASTIC
from validator.model import Run
from validator.rule import Problem, rule


@rule(
    code="TP005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.18.0 pkg/controller/jobframework/validation.go: ValidateElasticJobAnnotation",
        "kubernetes-sigs/kueue v0.14.0 pkg/workloadslicing/workloadslicing.go: Enabled",
    ),
    needs=("kueue.x-k8s.io",),
)
def kueue_elastic_unsupported(run: Run) -> Iterator[Problem]:
    """The annotation on a kind that cannot use it."""
    if run.annotations.get(ELASTIC) == "true" and run.kind not in ("Job", *RUNTIMES):
        yield Problem(
            run.at.child("metadata", "annotations", ELASTIC),
            f"Kueue does not resize a {run.kind}: since v0.18 it refuses the job",
            "remove the annotation",
        )
