"""The variables of a node's processes, beside those inherited from the shell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.job import Job
from trainyard.commands.local.machine import Machine

# Variables of the cluster's network, which does not exist here. `NCCL_DEBUG` and the like stay.
_OF_THE_NETWORK = re.compile(
    r"(NCCL|GLOO|TP|UCC)_SOCKET_IFNAME|(FI|UCX)_.*"
    r"|NCCL_(IB_.*|NET|NET_PLUGIN|NET_GDR_.*|CROSS_NIC|TOPO_FILE|TUNER_.*|SOCKET_.*)"
)
# Torchrun sets them anew, and the addresses are names of pods.
_OF_THE_LAUNCH = re.compile(r"PET_.*|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK")


def program_variables(job: Job) -> dict[str, str]:
    """Returns the variables that the values set for the program, with the paths of a pod."""
    return {
        name: value
        for name, value in job.environment.items()
        if not (_OF_THE_NETWORK.fullmatch(name) or _OF_THE_LAUNCH.fullmatch(name))
    }


def cluster_only_variables(job: Job) -> list[str]:
    """Returns the names of the variables that only make sense on the cluster."""
    return sorted({*job.left_out, *filter(_OF_THE_NETWORK.fullmatch, job.environment)})


def default_variables(machine: Machine) -> dict[str, str]:
    """Returns variables that the values need not set.

    Gloo would look up the address of the machine's name, which may be on another network or not exist.
    """
    is_ours = machine.loopback is not None and "GLOO_SOCKET_IFNAME" not in machine.environment
    interface = {"GLOO_SOCKET_IFNAME": str(machine.loopback)} if is_ours else {}
    return {**interface, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def missing_secrets(job: Job, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns variables of Secrets that the user has not exported, each with its source on the cluster."""
    return {name: where for name, where in job.secrets.items() if name not in environment}


def node_devices(job: Job, machine: Machine) -> list[tuple[str, ...]]:
    """Returns the accelerators of each node; none for all nodes if the run requests none or the machine has none.

    Each node has accelerators of its own, since NCCL refuses two ranks on one. Raises `RunRefusedError` if there are
    fewer accelerators than processes.
    """
    total = len(machine.gpus)
    if not wants_gpus(job) or not total:
        if job.processes == "gpu":
            raise RunRefusedError("processesPerNode is gpu, and this machine has none: add --processes-per-node 1")
        return [()] * job.nodes
    share = total // job.nodes
    counted = 1 if isinstance(job.processes, str) else job.processes
    least = job.gpus if job.launcher == "command" else counted
    each = max(least, min(job.gpus or share, share))
    if each > share:
        raise RunRefusedError(
            f"{job.nodes} nodes take {job.nodes * least} GPUs and this machine has {total}: add --nodes 1 "
            f"--processes-per-node {total}"
        )
    return [machine.gpus[node * each : (node + 1) * each] for node in range(job.nodes)]


def wants_gpus(job: Job) -> bool:
    """True if the pods of the run have accelerators."""
    return job.gpus > 0 or job.processes == "gpu"
