"""A command writes to a path that the container mounts read-only.

The program fails with `Read-only file system`: a download at once, and a training run with its first checkpoint, often
hours after the start. Then it restarts from step 0.

The rule looks at mounts and claims with `readOnly: true`, at copy and download commands, and at options of training
commands that are only ever written to, such as `--output-dir` and `--save`.

Remove `readOnly` from the mount, or write to a path on another volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import is_claim_read_only
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.writes import written_paths
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="RF009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/volumes: Read-only mounts",
        "kubernetes v1.34 pkg/apis/core/types.go: VolumeMount.ReadOnly, PersistentVolumeClaimVolumeSource.ReadOnly",
    ),
    needs=("readOnly",),
)
def read_only_mount_written(container: Container, context: Context) -> Iterator[Problem]:
    """Writes to a read-only mount."""
    pod = context.pod
    if pod is None:
        return
    for written in written_paths(container):
        mount = mount_of(container, written.path)
        volume = pod.volume(mount.volume) if mount is not None else None
        if mount is None or volume is None:
            continue
        of_volume = volume.kind == "persistentVolumeClaim" and is_claim_read_only(volume)
        if mount.read_only or of_volume:
            place = volume.at.child(volume.kind, "readOnly") if of_volume else mount.at.child("readOnly")
            yield Problem(
                written.at,
                f"`{written.by}` writes to `{written.path}`, but volume `{volume.name}` is mounted read-only",
                "remove `readOnly`, or write to another volume",
                related=((place, "the read-only mount"),),
            )
