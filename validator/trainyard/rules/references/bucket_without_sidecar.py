"""The pod mounts a bucket with Cloud Storage FUSE, and lacks the annotation that adds the sidecar of the driver.

On GKE the file system of a bucket runs in a sidecar. A webhook adds it to pods with the annotation
`gke-gcsfuse/volumes: "true"`, and to no others. Without it the pod stays in ContainerCreating: `MountVolume.SetUp
failed ... failed to find the sidecar container in Pod spec`.

The rule looks at volumes of the driver in the pod, and at claims whose PersistentVolume is in the files.

Annotate the pod template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import claim_of
from trainyard.analysis.objects.known_objects import everywhere
from trainyard.analysis.objects.patches import is_patch
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod, Project, Run, Volume

_DRIVER, _ANNOTATION = "gcsfuse.csi.storage.gke.io", "gke-gcsfuse/volumes"


@rule(
    code="RF070",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "GoogleCloudPlatform/gcs-fuse-csi-driver 06ceffdf pkg/webhook/mutatingwebhook.go: Handle",
        "GoogleCloudPlatform/gcs-fuse-csi-driver 06ceffdf pkg/csi_driver/node.go: NodePublishVolume",
        "github.com/GoogleCloudPlatform/gcs-fuse-csi-driver issue 153",
    ),
    needs=(_DRIVER,),
)
def bucket_without_sidecar(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods with buckets that have no sidecar."""
    run = context.run
    # Another rule reports the annotation of the object, which the webhook does not read.
    if run is None or _ANNOTATION in pod.annotations or _ANNOTATION in run.annotations or is_patch(pod):
        return
    for volume in pod.volumes:
        if _is_bucket(volume, run, context.project):
            yield Problem(
                volume.at.child("name"),
                f"the volume `{volume.name}` is a bucket, whose file system runs in a sidecar, and no webhook adds it",
                f'annotate the pods with `{_ANNOTATION}: "true"`',
            )
            return


def _is_bucket(volume: Volume, run: Run, project: Project) -> bool:
    if volume.kind == "csi":
        return text(volume.body, "driver") == _DRIVER
    claim = claim_of(volume, run, project)
    name = text(claim.tree, "spec", "volumeName") if claim is not None else ""
    found = everywhere(project, "PersistentVolume", name) if name else []
    return bool(found) and all(text(one.tree, "spec", "csi", "driver") == _DRIVER for one in found)
