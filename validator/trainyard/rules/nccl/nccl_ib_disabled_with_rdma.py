"""The pod reserves RDMA devices and NCCL is told not to use them: traffic between nodes goes over TCP.

`NCCL_IB_DISABLE` keeps NCCL from InfiniBand and RoCE, and `NCCL_NET=Socket` from everything but TCP. The pod still asks
the device plugin for RDMA devices, so the scheduler keeps them from other jobs. The run works, at a tenth of the
bandwidth; the only trace is `NET/Socket` in the output of `NCCL_DEBUG=INFO`. Usually the variable was set while
somebody looked for a fault, and stayed.

EFA devices are reached through a plugin that does not look at `NCCL_IB_DISABLE`: for them only `NCCL_NET=Socket`
counts.

Remove the variable, or the RDMA resource when TCP is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import counts
from validator.facts.devices import rdma_resources
from validator.facts.strtoll import number
from validator.model import Container, Setting
from validator.rule import Context, Problem, rule

EFA = "vpc.amazonaws.com/efa"


@rule(
    code="NC030",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_DISABLE, NCCL_NET",
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/init.cc: ncclIbInitDevices",
    ),
    needs=("NCCL_IB_DISABLE", "NCCL_NET"),
)
def nccl_ib_disabled_with_rdma(setting: Setting, context: Context) -> Iterator[Problem]:
    """RDMA devices that NCCL may not use."""
    if not counts(setting, context.container):
        return
    resources = {resource for container in _processes(setting, context) for resource in rdma_resources(container)}
    if setting.name == "NCCL_IB_DISABLE" and number(setting.value):
        resources = {resource for resource in resources if not resource.startswith(EFA)}
    elif setting.name != "NCCL_NET" or (setting.value or "").lower() != "socket":
        return
    if resources:
        yield Problem(
            setting.at,
            f"{setting.name}={setting.value} leaves the pod's {', '.join(sorted(resources))} unused: NCCL takes TCP",
            f"remove {setting.name}, or the resource when TCP is meant",
        )


def _processes(setting: Setting, context: Context) -> tuple[Container, ...]:
    """The containers whose processes see the variable: with `mpirun -x` those of the workers."""
    if setting.via == "mpirun" and context.run is not None:
        return tuple(role.container for role in context.run.training_roles if role.container is not None)
    return (context.container,) if context.container is not None else ()
