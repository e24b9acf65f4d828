"""The CPU limit is too low for the number of GPUs, so data loaders and NCCL threads are throttled.

Every GPU process needs CPU time beside the GPU's work: for the training loop, for data loader workers, and for NCCL's
proxy thread, which moves the data of every network transfer. When the container reaches its CPU limit, the kernel stops
all its threads until the next period of 100 ms. Steps then take longer on some ranks, and all others wait for them. The
training loop alone takes one CPU for each GPU, so the minimum is 1.5 unless configured otherwise. Data loaders often
need much more.

The rule ignores images that only wait, such as `sleep` and `busybox`, with which examples show a queue or a scheduler,
and programs such as `nvidia-smi` that start no ranks.

Write a higher CPU limit, or only a CPU request: without a limit nothing is throttled.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import only_waits
from trainyard.analysis.launchers.training_commands import starts_no_ranks
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Role
from trainyard.startup import NamedTuple


class Floor(NamedTuple):
    """`cpus_per_gpu`: the lowest accepted CPU limit, in CPUs for each accelerator."""

    cpus_per_gpu: float = 1.5


@rule(
    code="RS006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "policy: 1.5 CPUs for each GPU process",
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/: CPU limits are throttled",
    ),
    parameters=Floor(),
)
def gpu_cpu_limit_throttled(role: Role, context: Context) -> Iterator[Problem]:
    """A CPU limit that is too low for the GPUs."""
    for container in role.pod.containers if role.trains else ():
        count, limit = container.gpus, parse_quantity(container.limits.get("cpu"))
        floor = context.parameters.cpus_per_gpu * count
        if count and limit is not None and limit < floor and not _is_idle(container):
            yield Problem(
                quantity_at(context.run, role, container, "limits", "cpu"),
                f"a CPU limit of {container.limits['cpu']} throttles the processes of {_gpus(count)}",
                f"write a CPU limit of at least {floor:g}, or only a request",
            )


def _is_idle(container: Container) -> bool:
    return only_waits(container) or starts_no_ranks(container)


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
