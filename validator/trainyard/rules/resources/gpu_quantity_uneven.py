"""Roles of one job have different numbers of GPUs, but torchrun needs the same number on each node.

`torchrun` requires that all nodes of a run have the same number of local processes (`LOCAL_WORLD_SIZE`). A Master with
one GPU and Workers with eight cannot have that: either the Workers leave seven GPUs idle, or the Master's processes
fail with `invalid device ordinal`. Ranks that are computed from the node's rank and its number of processes collide or
leave gaps.

Give Master and Worker the same number of GPUs. A Master that only coordinates is not needed: the first Worker can do
it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import runs_one_program
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.analysis.resources.devices import quantity_at
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Role, Run


@rule(
    code="RS004",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("https://docs.pytorch.org/docs/stable/elastic/run.html: important notices, 5",),
)
def gpu_quantity_uneven(run: Run) -> Iterator[Problem]:
    """Pods of one run with different numbers of GPUs."""
    if run.kind != "PyTorchJob" and not _starts_torchrun(run):
        return
    counts = [(role, _gpus(role)) for role in run.training_roles if role.replicas != 0]
    most, largest = max(((count, role.name) for role, count in counts), default=(0, ""))
    for role, count in counts:
        if count < most:
            yield Problem(
                _at(run, role),
                f"pods of {role.name} have {count} GPUs, those of {largest} {most}: torchrun needs as many on each",
                f"give {role.name} {most} GPUs too",
            )


def _starts_torchrun(run: Run) -> bool:
    """Returns true if torchrun starts one program in all roles that train."""
    containers = [role.container for role in run.training_roles]
    starts = all(container is not None and any(torchrun_commands(container)) for container in containers)
    return starts and runs_one_program(run)


def _gpus(role: Role) -> int:
    return role.container.gpus if role.container is not None else 0


def _at(run: Run, role: Role) -> Place:
    container = role.container
    if container is None:
        return role.at
    name = next((name for name in container.limits if name.endswith("/gpu")), "nvidia.com/gpu")
    return quantity_at(run, role, container, "limits", name)
