"""The Ray cluster of the job stays when the job has ended, and holds its GPUs.

`shutdownAfterJobFinishes` of a RayJob is false by default: KubeRay leaves the cluster for inspection. Its workers hold
their accelerators until somebody deletes the RayJob, and the next job waits.

The rule looks at clusters with accelerators that do not scale down, and ignores a job that sets the field to false.

Set `shutdownAfterJobFinishes: true`, with `ttlSecondsAfterFinished` for the time to read logs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.workloads import is_ray
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kueue import QUEUE
from trainyard.model.run import Run

# Fields that say what happens with the cluster. A suspended job has another fault.
DECIDED = ("shutdownAfterJobFinishes", "deletionStrategy", "clusterSelector")


@rule(
    code="RY010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/1023: clusters stay after their job",
        "ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1/rayjob_types.go: ShutdownAfterJobFinishes",
    ),
    needs=("RayJob",),
)
def ray_cluster_outlives_job(run: Run) -> Iterator[Problem]:
    """Report clusters that keep their accelerators."""
    if run.kind != "RayJob" or not is_ray(run) or any(field in run.spec for field in DECIDED):
        return
    if (
        (integer(run.spec, "ttlSecondsAfterFinished") or 0) > 0
        or run.spec.get("suspend") is True
        or QUEUE in run.labels
    ):
        return
    if mapping(run.spec, "rayClusterSpec").get("enableInTreeAutoscaling") is True:
        return
    gpus = sum(role.replicas * sum(one.gpus for one in role.pod.containers) for role in run.roles if role.replicas)
    if gpus:
        yield Problem(
            run.at.child("spec", "shutdownAfterJobFinishes"),
            f"the cluster stays when the job has ended, and holds its accelerators ({gpus}): shutdownAfterJobFinishes is "
            "false by default",
            "set shutdownAfterJobFinishes: true",
        )
