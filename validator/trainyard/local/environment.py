"""The variables of a node's processes, beside those that they have from whoever starts them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from validator.local.errors import RefusedError
from validator.local.job import Job
from validator.local.machine import Machine

# How the network of the cluster is reached, which is not here. `NCCL_DEBUG` and the like stay.
_OF_THE_NETWORK = re.compile(
    r"(NCCL|GLOO|TP|UCC)_SOCKET_IFNAME|(FI|UCX)_.*"
    r"|NCCL_(IB_.*|NET|NET_PLUGIN|NET_GDR_.*|CROSS_NIC|TOPO_FILE|TUNER_.*|SOCKET_.*)"
)
# Torchrun says them anew, and the addresses are names of pods.
_OF_THE_LAUNCH = re.compile(r"PET_.*|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK")
# The chart's default for a user without a home.
_HOME = ("HOME", "/tmp")  # noqa: S108


def variables(job: Job) -> dict[str, str]:
    """What the program has of the values' own variables, with the paths of a pod."""
    return {
        name: value
        for name, value in job.environment.items()
        if not (_OF_THE_NETWORK.fullmatch(name) or _OF_THE_LAUNCH.fullmatch(name) or (name, value) == _HOME)
    }


def left_out(job: Job) -> list[str]:
    """Names of the variables that only make sense on the cluster."""
    return sorted({*job.left_out, *filter(_OF_THE_NETWORK.fullmatch, job.environment)})


def defaults(machine: Machine) -> dict[str, str]:
    """Variables that the values do not have to name.

    Gloo would look for the address of the machine's name, which may be that of another network, or none at all.
    """
    is_ours = machine.loopback is not None and "GLOO_SOCKET_IFNAME" not in machine.environment
    interface = {"GLOO_SOCKET_IFNAME": str(machine.loopback)} if is_ours else {}
    return {**interface, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def missing(job: Job, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables of Secrets that whoever starts the run has not exported, and where the cluster has them."""
    return {name: where for name, where in job.secrets.items() if name not in environment}


def devices(job: Job, machine: Machine) -> list[tuple[str, ...]]:
    """The accelerators of each node; none for all of them where the run asks for none or the machine has none.

    Nodes have accelerators of their own, since NCCL refuses two ranks on one. Raises `RefusedError` where there are
    fewer than processes.
    """
    total = len(machine.gpus)
    if not wants_gpus(job) or not total:
        if job.processes == "gpu":
            raise RefusedError("processesPerNode is gpu, and this machine has none: add --processes-per-node 1")
        return [()] * job.nodes
    share = total // job.nodes
    counted = 1 if isinstance(job.processes, str) else job.processes
    least = job.gpus if job.launcher == "command" else counted
    each = max(least, min(job.gpus or share, share))
    if each > share:
        raise RefusedError(
            f"{job.nodes} nodes take {job.nodes * least} GPUs and this machine has {total}: add --nodes 1 "
            f"--processes-per-node {total}"
        )
    return [machine.gpus[node * each : (node + 1) * each] for node in range(job.nodes)]


def wants_gpus(job: Job) -> bool:
    """Whether the pods of the run have accelerators."""
    return job.gpus > 0 or job.processes == "gpu"
