"""The cluster of the finished job stays and holds its GPUs.

A RayJob creates its own RayCluster, and keeps it after the job unless `shutdownAfterJobFinishes` is true: the default
is false. The pods wait for further jobs that nobody submits, and their GPUs are neither used nor free. The rule leaves
files alone that set the field: an explicit `false` keeps the cluster on purpose.

Write `shutdownAfterJobFinishes: true`; `ttlSecondsAfterFinished` keeps the cluster, with its logs, for some time.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import SHUTDOWN, groups_of
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import gpus
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource


@rule(
    code="RY018",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1/rayjob_types.go: ShutdownAfterJobFinishes",),
    needs=("RayJob",),
)
def ray_job_keeps_cluster(resource: Resource) -> Iterator[Problem]:
    """Report a job with GPUs that keeps its cluster."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "RayJob" or group_of(resource.api_version) != RAY:
        return
    if spec.get(SHUTDOWN) is not None or spec.get("deletionStrategy") is not None:
        return
    # Other rules report these without the shutdown.
    if spec.get("suspend") is True or spec.get("ttlSecondsAfterFinished"):
        return
    limits = (mapping(one, "resources", "limits") for group in groups_of(resource) for one in group.containers)
    if any(gpus(known, {}) for known in limits) and text(spec, "submissionMode") != "InteractiveMode":
        at = resource.at.child("spec", SHUTDOWN)
        yield Problem(
            at.key(),
            f"{SHUTDOWN} is false by default: the cluster of the finished job stays and holds its GPUs",
            f"write `{SHUTDOWN}: true`",
        )
