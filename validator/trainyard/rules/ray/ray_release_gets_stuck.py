"""The image has a release of Ray whose dashboard gets stuck when a job is submitted, so KubeRay restarts the head.

From Ray 2.11.0 on, the agent of the dashboard on the head may hang after a job was created. The probes of KubeRay ask
this agent, fail, and the head is restarted with all its jobs. Ray 2.37.0 has the correction. The documentation of
KubeRay says not to use the releases between them.

The rule reads the tags of Ray's own images in RayJobs.

Use 2.37.0 or newer.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of, image_version
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_FIRST, _CORRECTED = (2, 11, 0), (2, 37, 0)


@rule(
    code="RY031",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.ray.io/en/latest/cluster/kubernetes/troubleshooting/troubleshooting.html: use the right version of Ray",
    ),
    needs=("rayproject/",),
)
def ray_release_gets_stuck(resource: Resource) -> Iterator[Problem]:
    """Report releases of Ray that do not work with the probes of KubeRay."""
    cluster = cluster_of(resource) if resource.kind == "RayJob" else None
    head = cluster.groups[0] if cluster is not None else None
    version = image_version(text(head.container, "image")) if head is not None else None
    if head is None or version is None:
        return
    if _FIRST <= tuple(int(part) for part in version.split(".")) < _CORRECTED:
        yield Problem(
            head.container_at.child("image"),
            f"with Ray {version} the dashboard of the head gets stuck once a job is created, and the probes fail",
            "use Ray 2.37.0 or newer",
        )
