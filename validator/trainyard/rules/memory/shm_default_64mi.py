"""A pod with several GPU processes has only 64 MiB of shared memory, so NCCL or the data loaders fail.

Without a volume at `/dev/shm`, container runtimes mount 64 MiB there. NCCL allocates segments of several MiB there for
each pair of processes, and data loader workers pass whole batches through it. NCCL then ends with `failed to extend
/dev/shm/nccl-...`, and loaders with `Bus error` or `unable to open shared memory object`, often only after some hours.

The rule skips containers that only list devices, measure or sleep (`nvidia-smi`, `genai-perf`, `sleep infinity`), or
run one process of Python (`python -c`, and a script without a launcher in a PyTorchJob), pods that use the node's
`/dev/shm` (`hostIPC: true`), containers with `NCCL_SHM_DISABLE=1`, which other rules report, and TensorFlow without a
launcher outside of a TFJob, which drives all GPUs from one process.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import only_waits
from trainyard.analysis.launchers.one_rank import is_one_rank
from trainyard.analysis.launchers.training_commands import is_one_python_process, starts_launcher, starts_no_ranks
from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role


@rule(
    code="SH001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "NVIDIA/nccl docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst: shared memory",
        "https://github.com/NVIDIA/nccl/issues/525",
    ),
    fix="safe",
)
def shm_default_64mi(role: Role, context: Context) -> Iterator[Problem]:
    """Report several GPU processes that share the default /dev/shm."""
    if not has_all_pods(context.run):
        return
    for container in shared_memory.accelerated_containers(role):
        if not shared_memory.has_default_size(context.run, role, container) or starts_no_ranks(container):
            continue
        if only_waits(container) or _is_test_of_nccl(container) or is_one_python_process(container):
            continue
        if is_one_rank(container, context.run):
            continue
        if not (context.run and context.run.kind == "TFJob") and _is_one_process(container):
            continue
        disabled = container.setting("NCCL_SHM_DISABLE")
        processes = shared_memory.process_count(context.run, role, container)
        if processes > 1 and (disabled is None or disabled.value != "1"):
            yield Problem(
                container.at.child("volumeMounts").key(),
                f"{_title(container, processes)} share the default /dev/shm of 64 MiB: no volume is mounted there",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mount_edits(role.pod, container),
            )


def _title(container: Container, processes: int) -> str:
    """Returns the words for the processes; their number is not known without a launcher."""
    if any(starts_launcher(command.words) for command in container.commands):
        return f"{processes} GPU processes"
    return f"the processes of {processes} GPUs"


def _is_test_of_nccl(container: Container) -> bool:
    """True for tests of NCCL that no launcher starts: they have a thread for each GPU."""
    programs = [command.program for command in container.commands]
    return any(program.endswith("_perf") for program in programs) and not any(
        starts_launcher(command.words) for command in container.commands
    )


def _is_one_process(container: Container) -> bool:
    """True for TensorFlow without a launcher: its strategies for one node use threads, and `tf.data` does too."""
    return "tensorflow" in (container.image or "") and not any(
        starts_launcher(command.words) or command.program.endswith(".sh") for command in container.commands
    )
