"""The pod reserves RDMA devices, but NCCL is told not to use them, so inter-node traffic uses TCP.

`NCCL_IB_DISABLE` turns off InfiniBand and RoCE, and `NCCL_NET=Socket` turns off everything but TCP. The pod still
requests RDMA devices from the device plugin, so the scheduler keeps them from other jobs. The run works at a tenth of
the bandwidth; the only trace is `NET/Socket` in the output of `NCCL_DEBUG=INFO`. Usually the variable was set during a
search for a fault, and stayed.

NCCL reaches EFA devices through a plugin that does not read `NCCL_IB_DISABLE`; for them only `NCCL_NET=Socket` counts.

Remove the variable, or remove the RDMA resource if TCP is intended.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.resources.devices import rdma_resources
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Container, Setting

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
    """RDMA devices that NCCL is told not to use."""
    if not is_effective(setting, context.container):
        return
    resources = {resource for container in _processes(setting, context) for resource in rdma_resources(container)}
    if setting.name == "NCCL_IB_DISABLE" and parse_integer(setting.value):
        resources = {resource for resource in resources if not resource.startswith(EFA)}
    elif setting.name != "NCCL_NET" or (setting.value or "").lower() != "socket":
        return
    if resources:
        yield Problem(
            setting.at,
            f"{setting.name}={setting.value} leaves the pod's {format_list(sorted(resources))} unused: NCCL uses TCP",
            f"remove {setting.name}, or the resource if TCP is intended",
        )


def _processes(setting: Setting, context: Context) -> tuple[Container, ...]:
    """The containers whose processes see the variable: with `mpirun -x` those of the workers."""
    if setting.via == "mpirun" and context.run is not None:
        return tuple(role.container for role in context.run.training_roles if role.container is not None)
    return (context.container,) if context.container is not None else ()
