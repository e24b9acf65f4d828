"""The memory limit is too small for a process on each GPU, so the container is killed at its start.

Each process that imports PyTorch takes 290 MiB that the kernel cannot reclaim, before the CUDA context, NCCL's buffers
and the data loader. A container with 8 GPUs and 1Gi, a value that is often left over from an example, ends with
`OOMKilled` when the processes start.

The rule reports less than 256 MiB for each whole GPU of a container with two or more. It skips containers that
only list devices or sleep.

Write the memory that the job needs; a share of the node in proportion to its GPUs is a good start.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import starts_no_ranks
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container

LEAST = 256 * 2**20
WHOLE = ("nvidia.com/gpu", "amd.com/gpu")


@rule(
    code="SH012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "PyTorch 2.15.0+cu132, import of torch and torch.distributed: 290 MiB of anonymous memory (seen)",
        "Kubernetes documentation, Assign Memory Resources: a container above its limit is killed",
    ),
    needs=WHOLE,
)
def memory_limit_below_gpus(container: Container, context: Context) -> Iterator[Problem]:
    """A memory limit below a context for each GPU."""
    written = container.limits.get("memory")
    limit = parse_quantity(written)
    gpus = max((parse_quantity(container.limits.get(name)) or 0 for name in WHOLE), default=0)
    if limit is None or gpus < 2 or limit >= gpus * LEAST or starts_no_ranks(container):
        return
    yield Problem(
        quantity_at(context.run, context.role, container, "limits", "memory"),
        f"{written} of memory for {gpus:.0f} GPUs: the container is killed when its processes start",
        "set the limit to the memory that the job needs, such as the share of these GPUs in the node's memory",
    )
