"""Files and volumes."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Sign

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
            Sign("nfs: server", r"nfs: server \S+ not responding"),
            Sign("I/O error, dev"),
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
        signs=(Sign("FileNotFoundError"), Sign("can't open file '", r"can't open file '.*Errno 2")),
        confidence="medium",
        explanation="The path is wrong, its volume is not mounted, or the file is on the disk of another node: a "
        "download or checkpoint of one rank that the others do not see.",
        remedy="Check the mounts of the pod. Keep data and checkpoints on a volume that all nodes share.",
        source="github.com/mila-iqia/milabench issue 281",
    ),
    Cause(
        name="too-many-open-files",
        title="a process has too many files or sockets open",
        signs=(
            Sign("Too many open files"),
            Sign("too many open files"),
            Sign("received 0 items of ancdata"),
        ),
        explanation="The limit of open files (ulimit -n) or of inotify instances is used up; data loader workers hand "
        "tensors over as open files.",
        remedy="Raise the limit of the container runtime, use fewer workers, or "
        "torch.multiprocessing.set_sharing_strategy('file_system'). For inotify, raise fs.inotify.max_user_instances.",
        source="github.com/pytorch/pytorch docs/source/multiprocessing.rst",
    ),
    Cause(
        name="cache-written-together",
        title="several processes write the same file or folder at the same time",
        signs=(
            Sign("[Errno 39] Directory not empty"),
            Sign("FileExistsError"),
            Sign("[Errno 66] Directory not empty"),
        ),
        confidence="medium",
        messages=("[Errno 39] Directory not empty", "FileExistsError"),
        explanation="The ranks prepare one cache or output folder on a shared volume, and one removes or creates what "
        "another one works on.",
        remedy="Let rank 0 prepare the data before a barrier, give each rank a folder of its own, or create folders "
        "with exist_ok=True.",
        source="github.com/huggingface/transformers issue 30859",
    ),
)
