"""The volume at /dev/shm is on the node's disk, so shared memory is as slow as the disk.

An `emptyDir` without `medium: Memory` is a folder on the node's disk. Programs find `/dev/shm` and map files in it as
if they were memory. Every page goes through the file system and wears the disk, the container's ephemeral storage
fills up, and the kubelet evicts the pod when the disk or the `sizeLimit` is full. Any other value than `Memory`, such
as `memory`, keeps the pod from starting: `unknown storage medium`.

The rule skips huge pages (`medium: HugePages...`).

Write `medium: Memory`, with a `sizeLimit` below the memory limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.document.document import Add, Edit, SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod, Volume


@rule(
    code="SH002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go: SetUpAt",
        "https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
    ),
    fix="safe",
    needs=("emptyDir",),
)
def shm_not_memory_medium(pod: Pod) -> Iterator[Problem]:
    """Report a /dev/shm on disk."""
    for container in (*pod.containers, *pod.init_containers):
        volume = shared_memory.shm_volume(pod, container)
        if volume is None or volume.kind != "emptyDir" or shared_memory.in_memory(volume):
            continue
        medium = volume.body.get("medium") or ""
        if str(medium).startswith("HugePages"):
            continue
        message = f"volume {volume.name} at /dev/shm is on the node's disk"
        if medium:
            message = f"unknown medium `{medium}`: volume {volume.name} keeps the pod from starting"
        yield Problem(
            volume.at.child("emptyDir", "medium"),
            message,
            "write `medium: Memory`",
            (_in_memory(volume),),
        )


def _in_memory(volume: Volume) -> Edit:
    body = volume.at.child("emptyDir")
    if "medium" in volume.body:
        return SetValue(body.child("medium"), "Memory")
    return Add(body, "medium", "Memory")
