"""The node's own /dev/shm is mounted, so pods share one shared memory and its stale files.

With `hostPath: /dev/shm` every pod of the node reads and writes the same folder. Nothing of it counts against a pod's
memory limit, so that one run can take the node's memory from all others; files such as `/dev/shm/nccl-...` of a run
that was killed stay until the node restarts and fill it; and names can collide. Pod Security's level `baseline` and
above refuse host paths altogether.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit`. Pods on one node that need a common segment (rare: NCCL
between pods does not) are the exception.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.fields import text
from validator.model import Container, Pod, Volume
from validator.rule import Add, Edit, Problem, Rename, SetValue, rule

# The second is the older name of the first.
SAME = (shared_memory.PATH, "/run/shm")


@rule(
    code="SH006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://kubernetes.io/docs/concepts/storage/volumes/#hostpath",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/: baseline forbids host path volumes",
    ),
    fix="unsafe",
    needs=("hostPath",),
)
def shm_host_path(pod: Pod) -> Iterator[Problem]:
    """The node's /dev/shm in a pod."""
    for container in pod.containers:
        volume = shared_memory.volume(pod, container)
        if volume is None or volume.kind != "hostPath" or text(volume.body, "path").rstrip("/") not in SAME:
            continue
        yield Problem(
            volume.at.child("hostPath", "path"),
            f"volume {volume.name} is the node's own /dev/shm, which all pods of the node share",
            "mount an emptyDir with `medium: Memory` and a sizeLimit",
            _private(pod, container, volume),
        )


def _private(pod: Pod, container: Container, volume: Volume) -> tuple[Edit, ...]:
    """Edits that turn the host path into a volume of the pod, field by field, so that their order stays."""
    if not volume.body.keys() <= {"path", "type"} or "path" not in volume.body:
        return ()
    at = volume.at.child("hostPath")
    size = shared_memory.recommended(pod, container)
    edits: list[Edit] = [
        Rename(at, "emptyDir"),
        Rename(at.child("path"), "medium"),
        SetValue(at.child("path"), "Memory"),
    ]
    if "type" in volume.body:
        edits += [Rename(at.child("type"), "sizeLimit"), SetValue(at.child("type"), size)]
    else:
        edits.append(Add(at, "sizeLimit", size))
    return tuple(edits)
