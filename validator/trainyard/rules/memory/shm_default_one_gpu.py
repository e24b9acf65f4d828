"""A pod with one GPU has only 64 MiB of shared memory, which data loader workers soon fill.

Without a volume at `/dev/shm`, container runtimes mount 64 MiB there. PyTorch's data loader workers pass each batch
through it: four workers with two batches of 32 images ready need about 150 MiB. The process then ends with `Bus error`
or `unable to open shared memory object`. A loader without workers (`num_workers=0`) does not use it, and the files do
not show the number of workers, so this is a warning. `shm-default-64mi` reports pods with several processes.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

# The loaders of these kinds pass batches within the process.
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
    """Report one GPU process with the default /dev/shm."""
    run = context.run
    if run is None or run.kind in WITHOUT_LOADER_PROCESSES or not has_all_pods(run):
        return
    bare = [one for one in shared_memory.accelerated_containers(role) if shared_memory.has_default_size(run, role, one)]
    for container in () if not bare or shared_memory.others_mount(run, role) else bare:
        if shared_memory.process_count(run, role, container) == 1:
            yield Problem(
                container.at.child("volumeMounts").key(),
                "no volume is mounted at /dev/shm: the default is 64 MiB, and data loader workers need more",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mount_edits(role.pod, container),
            )
