"""A pod with one GPU has only 64 MiB of shared memory, which data loader workers soon fill.

Without a volume at `/dev/shm`, container runtimes mount 64 MiB there. PyTorch's data loader workers hand each batch
over through it: four workers with two batches of 32 pictures ready need some 150 MiB. The process then ends with `Bus
error` or `unable to open shared memory object`. A loader without workers (`num_workers=0`) needs none of it, and the
files do not show how many there are: hence a warning, and `shm-default-64mi` where several processes share the pod.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.aspects.known import pods_are_whole
from validator.model import Role
from validator.rule import Context, Problem, rule

# Their loaders hand batches over within the process.
WITHOUT_LOADER_PROCESSES = ("TFJob", "XGBoostJob")


@rule(
    code="SH011",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "https://docs.pytorch.org/docs/stable/multiprocessing.html: file descriptors and files in /dev/shm",
    ),
    fix="safe",
)
def shm_default_one_gpu(role: Role, context: Context) -> Iterator[Problem]:
    """One GPU process with the runtime's default /dev/shm."""
    run = context.run
    if run is None or run.kind in WITHOUT_LOADER_PROCESSES or not pods_are_whole(run):
        return
    bare = [one for one in shared_memory.accelerated(role) if shared_memory.is_default(role.pod, one)]
    for container in () if not bare or shared_memory.others_mount(run, role) else bare:
        if shared_memory.processes(run, role, container) == 1:
            yield Problem(
                container.at.child("volumeMounts").key(),
                "no volume is mounted at /dev/shm: it has 64 MiB, and data loader workers need more",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mounting(role.pod, container),
            )
