"""What is not as it would be on the cluster, for whoever starts the run."""

from __future__ import annotations

from collections.abc import Iterator

from validator.local import environment
from validator.local.job import Job
from validator.local.machine import Machine
from validator.local.plan import Plan
from validator.local.preparing import is_empty, shown


def notes(job: Job, machine: Machine, plan: Plan) -> Iterator[str]:
    """A sentence for each."""
    yield from _of_variables(job, machine)
    if environment.wants_gpus(job) and not machine.gpus:
        yield (
            f"this machine has no GPU: {job.nodes} x {job.processes} processes run on CPU, by gloo; --nodes and "
            "--processes-per-node start fewer"
        )
    for one in plan.contents:
        if is_empty(one.folder):
            yield f"{one.path} is {one.what} on the cluster: put what the program needs of it into {shown(one.folder)}"
    if job.metrics_port is not None and job.nodes > 1:
        last = job.metrics_port + job.nodes - 1
        yield f"the nodes share the ports of this machine: their metrics are on {job.metrics_port} to {last}"


def _of_variables(job: Job, machine: Machine) -> Iterator[str]:
    left_out = environment.left_out(job)
    if left_out:
        yield f"left out, as only the cluster has that network: {', '.join(left_out)}"
    for name, where in environment.missing(job, machine.environment).items():
        yield f"{name} is {where} on the cluster: export {name} for the program to have it"
    for source in job.sources:
        yield f"{source} gives variables on the cluster: export those that the program needs"
