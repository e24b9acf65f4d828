"""The processes of a server with tensor parallelism share 64 MiB, and it ends or hangs while it starts.

vLLM and SGLang start a process for each GPU of `--tensor-parallel-size`, TGI for each of `--num-shard`, LMDeploy and
TensorRT-LLM for each of `--tp`, and workers of Xinference start vLLM on all of their GPUs. The processes exchange
tensors by NCCL and requests by a queue, both in `/dev/shm`. Without a volume there, container runtimes mount 64 MiB.
The server then stops with "unable to write to file </torch_...>" or an NCCL error.

The rule covers servers. `shm-default-64mi` reports jobs.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import is_patch
from trainyard.analysis.resources import shared_memory
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Pod

_OPTIONS = ("--tensor-parallel-size", "-tp", "--tp-size", "--tp", "--num-shard")
# Programs that use all GPUs of their container.
_GREEDY = ("xinference-worker", "xinference-local")


@rule(
    code="SH015",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "docs.vllm.ai deployment/k8s: shared memory for tensor parallel inference",
        "github.com/llm-d/llm-d-deployer pull 191",
    ),
    fix="safe",
    needs=("tensor-parallel-size", "tensor_parallel_size", "tp-size", "-tp", "--tp", "num-shard", "xinference"),
)
def shm_default_tensor_parallel(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report a server with several processes and the default /dev/shm."""
    run, role = context.run, context.role
    if run is None or role is None or run.is_job or not has_all_pods(run) or is_patch(pod):
        return
    for container in pod.containers:
        processes = _processes(container) if container.gpus > 1 else 0
        if 1 < processes <= container.gpus and shared_memory.has_default_size(run, role, container):
            yield Problem(
                container.at,
                f"{processes} processes of {container.name} share the default /dev/shm of 64 MiB",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mount_edits(pod, container),
            )


def _processes(container: Container) -> int:
    if any(command.program in _GREEDY for command in container.commands):
        return container.gpus
    told = max((decimal(one.option(*_OPTIONS) or "") or 0 for one in container.commands), default=0)
    # Without a command, the arguments are those of the image's server.
    plain = Command(container.args, (container.at,) * len(container.args), container.at)
    return told if container.command else max(told, decimal(plain.option(*_OPTIONS) or "") or 0)
