"""The pod mounts the node's own /dev/shm, so it shares segments and stale files with every such pod.

With `hostPath: /dev/shm`, every pod of the node that mounts it reads and writes the same folder. Nothing in it counts
against a pod's memory limit, so one run can take the node's memory from all others. Files such as `/dev/shm/nccl-...`
of a killed run stay until the node restarts and fill it, and names can collide. The Pod Security levels `baseline` and
above reject host paths altogether. The run itself starts and trains, so the rule needs `--pedantic`.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit`. The exception is pods on one node that need a common
segment, which is rare: NCCL between pods does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.document.document import Add, Edit, Rename, SetValue
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod, Volume

# /run/shm is the older name of /dev/shm.
SAME = (shared_memory.PATH, "/run/shm")


@rule(
    code="SH006",
    severity="info",
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
    """Report the node's /dev/shm in a pod."""
    for container in pod.containers:
        volume = shared_memory.shm_volume(pod, container)
        if volume is None or volume.kind != "hostPath" or text(volume.body, "path").rstrip("/") not in SAME:
            continue
        yield Problem(
            volume.at.child("hostPath", "path"),
            f"volume {volume.name} is the node's own /dev/shm, shared by every pod that mounts it",
            "mount an emptyDir with `medium: Memory` and a sizeLimit",
            _private(pod, container, volume),
        )


def _private(pod: Pod, container: Container, volume: Volume) -> tuple[Edit, ...]:
    """Return edits that turn the host path into an emptyDir, field by field to keep the order of the fields."""
    if not volume.body.keys() <= {"path", "type"}:
        return ()
    at = volume.at.child("hostPath")
    size = shared_memory.recommended_size(pod, container)
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
