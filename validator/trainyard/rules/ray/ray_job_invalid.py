"""KubeRay rejects the RayJob: fields contradict each other, or one is missing.

A RayJob starts its own cluster from `rayClusterSpec`, or uses a running one by `clusterSelector`; it needs one of
them. `ttlSecondsAfterFinished` and `suspend` work only with `shutdownAfterJobFinishes: true`. With a `clusterSelector`
there are neither retries (`backoffLimit`) nor suspension. Deadlines are positive numbers.

KubeRay takes the object and then does nothing: the RayJob has no cluster, and the reason is in its events. Correct the
fields that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.ray import SHUTDOWN
from trainyard.document.document import Add, Edit, Place
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource


@rule(
    code="RY014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayJobSpec, "
        "validateDeletionConfiguration",
    ),
    fix="unsafe",
    needs=("RayJob",),
)
def ray_job_invalid(resource: Resource) -> Iterator[Problem]:
    """Report fields of a RayJob that KubeRay rejects."""
    if resource.kind != "RayJob" or group_of(resource.api_version) != RAY:
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    selected = bool(mapping(spec, "clusterSelector"))
    if not selected and spec.get("rayClusterSpec") is None:
        yield Problem(at.key(), "the RayJob has neither rayClusterSpec nor clusterSelector", "write one of them")
    yield from _without_shutdown(spec, at)
    if selected and (integer(spec, "backoffLimit") or 0) > 0:
        yield Problem(at.child("backoffLimit"), "a RayJob with clusterSelector has no retries", "remove the field")
    if selected and spec.get("suspend") is True:
        yield Problem(at.child("suspend"), "a RayJob with clusterSelector cannot be suspended", "remove the field")
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        limit = integer(spec, field)
        if limit is not None and limit <= 0:
            yield Problem(at.child(field), f"{field} is {limit}: it must be positive", "write a number above 0")


def _without_shutdown(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    """Fields that need a cluster which ends with the job."""
    if spec.get(SHUTDOWN) not in (None, False):
        return
    edits: tuple[Edit, ...] = (Add(at, SHUTDOWN, True),) if SHUTDOWN not in spec else ()
    ttl = integer(spec, "ttlSecondsAfterFinished")
    if ttl is not None and ttl > 0:
        yield Problem(
            at.child("ttlSecondsAfterFinished"),
            f"ttlSecondsAfterFinished needs {SHUTDOWN}: KubeRay rejects the job",
            f"write `{SHUTDOWN}: true`",
            edits,
        )
    elif spec.get("suspend") is True:
        yield Problem(
            at.child("suspend"),
            f"a job that may be suspended needs {SHUTDOWN}: KubeRay rejects it",
            f"write `{SHUTDOWN}: true`",
            edits,
        )
