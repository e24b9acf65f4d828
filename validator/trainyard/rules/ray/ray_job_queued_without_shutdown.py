"""Kueue rejects the RayJob: a job with a queue must delete its cluster when it ends.

The quota of a RayJob is free again when its cluster is gone. `shutdownAfterJobFinishes` is false by default, so the
webhook of Kueue answers that a managed job should delete the cluster after finishing.

Set `shutdownAfterJobFinishes: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import SHUTDOWN
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource


@rule(
    code="RY009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/rayjob/rayjob_webhook.go: should delete the cluster",
        "ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1/rayjob_types.go: ShutdownAfterJobFinishes",
    ),
    needs=("RayJob",),
)
def ray_job_queued_without_shutdown(resource: Resource) -> Iterator[Problem]:
    """Report jobs with a queue that keep their cluster."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "RayJob" or group_of(resource.api_version) != RAY or "rayClusterSpec" not in spec:
        return
    # Another rule reports these fields without the shutdown.
    if spec.get("suspend") is True or spec.get("ttlSecondsAfterFinished") or spec.get(SHUTDOWN) not in (None, False):
        return
    if mapping(resource.tree, "metadata", "labels").get(QUEUE):
        yield Problem(
            resource.at.child("metadata", "labels", QUEUE),
            f"Kueue rejects a RayJob without {SHUTDOWN}",
            f"set {SHUTDOWN}: true",
        )
