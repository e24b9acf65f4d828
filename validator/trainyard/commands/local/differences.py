"""Differences between a local run and the cluster, for the user who starts it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.commands.local import environment
from trainyard.commands.local.job import Job
from trainyard.commands.local.machine import Machine
from trainyard.commands.local.memory import process_count
from trainyard.commands.local.plan import Plan
from trainyard.commands.local.preparation import display_path, is_empty
from trainyard.counting import counted


def cluster_differences(job: Job, machine: Machine, plan: Plan) -> Iterator[str]:
    """Yields a sentence for each difference."""
    yield from _of_variables(job, machine)
    if environment.wants_gpus(job) and not machine.gpus:
        yield (
            f"this machine has no GPU: {job.nodes} x {job.processes} processes run on CPU, by gloo; --nodes and "
            "--processes-per-node start fewer"
        )
    elif not machine.gpus and (processes := job.nodes * process_count(job, machine)) > machine.processors:
        yield (
            f"{processes} processes share {counted(machine.processors, 'processor')}; --nodes and "
            "--processes-per-node start fewer"
        )
    for one in plan.contents:
        if is_empty(one.folder):
            advice = f"put the files that the program needs into {display_path(one.folder)}"
            yield f"{one.path} is {one.what} on the cluster: {advice}"
    if job.metrics_port is not None and job.nodes > 1:
        last = job.metrics_port + job.nodes - 1
        yield f"the nodes share the ports of this machine: their metrics are on {job.metrics_port} to {last}"


def _of_variables(job: Job, machine: Machine) -> Iterator[str]:
    left_out = environment.cluster_only_variables(job)
    if left_out:
        yield f"left out, because only the cluster has that network: {', '.join(left_out)}"
    for name, where in environment.missing_secrets(job, machine.environment).items():
        yield f"{name} is {where} on the cluster: export {name} if the program needs it"
    for source in job.sources:
        yield f"{source} sets variables on the cluster: export those that the program needs"
