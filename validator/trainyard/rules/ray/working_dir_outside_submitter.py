"""The working directory of the RayJob is a folder that the pod which submits the job does not have.

`ray job submit` reads a local `working_dir` and uploads it. KubeRay runs it in a pod of its own, with the image of the
head and none of its volumes. A folder of a claim or a bucket that the head and the workers mount is not there, and the
submission fails with "... is not a valid path", as often as `backoffLimit` allows.

Mount the volume in `submitterPodTemplate`, too. Or leave `working_dir` out, and write the whole path in `entrypoint`:
the entrypoint runs on the head. An address such as `https://` or `s3://` of a zip file is fetched by Ray itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource

_ENVIRONMENT = "runtimeEnvYAML"
_MODE = "K8sJobMode"


@rule(
    code="RY045",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/ray-project/kuberay issue 2392",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/job.go: GetDefaultSubmitterTemplate",
        "docs.ray.io/en/latest/ray-core/handling-dependencies: a local working_dir is uploaded by the driver's machine",
    ),
    needs=(_ENVIRONMENT,),
)
def working_dir_outside_submitter(resource: Resource) -> Iterator[Problem]:
    """Report folders of the head's volumes that the submitting pod does not mount."""
    if resource.kind != "RayJob" or group_of(resource.api_version) != RAY:
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec", _ENVIRONMENT)
    inner = embedded(at, text(spec, _ENVIRONMENT))
    if isinstance(inner, BrokenText) or (text(spec, "submissionMode") or _MODE) != _MODE:
        return
    path = text(inner.tree, "working_dir")
    own = items(mapping(spec, "submitterPodTemplate", "spec"), "containers")
    heads = [container for group in groups_of(resource) if group.is_head for container in group.containers]
    if not path.startswith("/") or "{{" in path or not _mounts(heads, path) or _mounts(own, path):
        return
    yield Problem(
        at.key(),
        f"the pod that submits the job reads `working_dir: {path}`, and mounts no volume there",
        "mount the volume in submitterPodTemplate, or write the whole path in entrypoint and no working_dir",
    )


def _mounts(containers: list[dict[str, object]], path: str) -> bool:
    """True if a container has a volume at a path, or above it."""
    found = [text(mount, "mountPath").rstrip("/") for one in containers for mount in items(one, "volumeMounts")]
    return any(mount and f"{path}/".startswith(f"{mount}/") for mount in found)
