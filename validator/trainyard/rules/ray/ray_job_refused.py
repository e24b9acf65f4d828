"""KubeRay or Kueue rejects the RayJob: a job that keeps its cluster can neither be suspended nor have a time to live.

`suspend` deletes the cluster, and `ttlSecondsAfterFinished` is the time after which the cluster is deleted. Both need
`shutdownAfterJobFinishes: true`, which is false by default. Older operators ignored the time to live, so the cluster
stayed. The webhook of Kueue rejects a job with a queue and without the field.

Set `shutdownAfterJobFinishes: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kueue import QUEUE
from trainyard.facts.workloads import RAY, group_of
from trainyard.model.run import Resource

SHUTDOWN = "shutdownAfterJobFinishes"


@rule(
    code="RY009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/3651 and 3994: a time to live, and suspend, without shutdown",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayJobSpec",
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/rayjob/rayjob_webhook.go: should delete the cluster",
    ),
    needs=("RayJob",),
)
def ray_job_refused(resource: Resource) -> Iterator[Problem]:
    """Report jobs that keep their cluster, and are to be suspended or deleted."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "RayJob" or group_of(resource.api_version) != RAY or spec.get(SHUTDOWN) not in (None, False):
        return
    at, help_ = resource.at.child("spec"), f"set {SHUTDOWN}: true"
    queue = mapping(resource.tree, "metadata", "labels").get(QUEUE)
    if (integer(spec, "ttlSecondsAfterFinished") or 0) > 0:
        fault = f"ttlSecondsAfterFinished without {SHUTDOWN}: KubeRay rejects the job, or keeps the cluster"
        yield Problem(at.child("ttlSecondsAfterFinished"), fault, help_)
    elif spec.get("suspend") is True:
        fault = f"KubeRay rejects a job with suspend and without {SHUTDOWN}"
        yield Problem(at.child("suspend"), fault, help_)
    elif queue and "rayClusterSpec" in spec:
        fault = f"Kueue rejects a RayJob without {SHUTDOWN}"
        yield Problem(resource.at.child("metadata", "labels", QUEUE), fault, help_)
