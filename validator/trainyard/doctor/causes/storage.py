"""Files and volumes."""

from __future__ import annotations

from trainyard.doctor.cause import Cause, Sign

_CONTEXT = "kubernetes.io docs/tasks/configure-pod-container/security-context"

CAUSES = (
    Cause(
        name="permission-denied",
        title="the program may not write to a folder",
        signs=(Sign("PermissionError"), Sign("Permission denied", r"(?i)errno 13|mkdir|cannot create")),
        unless=r"/dev/infiniband|/dev/shm",
        explanation="The volume belongs to another user than the one that the container runs as.",
        remedy="Set `podSecurityContext.fsGroup` or `podSecurityContext.runAsUser` to the owner of the files.",
        source=_CONTEXT,
    ),
    Cause(
        name="disk-full",
        title="a volume or disk is full",
        signs=(Sign("No space left on device"), Sign("Disk quota exceeded"), Sign("ENOSPC")),
        unless=r"/dev/shm|shared memory|inotify",
        explanation="Checkpoints, caches or logs have used the space of the volume.",
        remedy="Delete old checkpoints and keep fewer, or enlarge the volume (`checkpoints.size`, `scratch.enabled`).",
        hides=("storage-io-error",),
        source="github.com/pytorch/pytorch caffe2/serialize/inline_container.cc",
        rules=("model-cache-on-small-volume",),
    ),
    Cause(
        name="storage-io-error",
        title="the storage failed while a file was read or written",
        signs=(
            Sign("[Errno 5] Input/output error"),
            Sign("Stale file handle"),
            Sign("PytorchStreamWriter failed writing file"),
        ),
        confidence="medium",
        explanation="The server of a network file system did not answer, its export changed, or a disk has an error.",
        remedy="Check the storage and its mount on the node (dmesg); restart the run from its last checkpoint.",
        source="github.com/rwth-i6/returnn issue 1829",
    ),
    Cause(
        name="read-only-file-system",
        title="the program writes to a read-only file system",
        signs=(Sign("Read-only file system"),),
        explanation="The root of the container, or a mount, is read-only.",
        remedy="Write to /tmp or a volume; set HF_HOME, TRITON_CACHE_DIR and the like to one.",
        source=_CONTEXT,
        rules=("read-only-mount-written", "read-only-claim-written"),
    ),
    Cause(
        name="file-not-found",
        title="the program does not find a file",
        signs=(Sign("FileNotFoundError"),),
        confidence="medium",
        explanation="The path is wrong, its volume is not mounted, or the file is on the disk of another node: a "
        "download or checkpoint of one rank that the others do not see.",
        remedy="Check the mounts of the pod. Keep data and checkpoints on a volume that all nodes share.",
        source="github.com/mila-iqia/milabench issue 281",
    ),
)
