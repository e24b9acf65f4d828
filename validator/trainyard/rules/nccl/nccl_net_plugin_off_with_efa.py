"""NCCL_NET_PLUGIN=none keeps NCCL from loading the plugin for EFA, so ranks of several nodes talk by TCP.

EFA works through the plugin aws-ofi-nccl, a library that NCCL loads by the name in `NCCL_NET_PLUGIN`, or by a default
name. The word `none` loads no plugin. Benchmarks of NVLink between nodes set it, to leave the network out.

The rule reports containers that request `vpc.amazonaws.com/efa` in runs of several nodes. It is silent with
`FI_EFA_USE_DEVICE_RDMA=0`, for first adapters of EFA, with which some programs need TCP.

Remove the variable. In a benchmark of NVLink, request no EFA devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective, ranks_of, value_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Setting

_NAME, _DEVICE = "NCCL_NET_PLUGIN", "vpc.amazonaws.com/efa"
# Adapters without RDMA, of which some need TCP.
_RDMA = "FI_EFA_USE_DEVICE_RDMA"


@rule(
    code="NC053",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl 5067397c src/plugin/net.cc lines 263-270: ncclNetPluginInit",
        "github.com/NVIDIA/aicr issue 2277",
    ),
    needs=(_NAME,),
)
def nccl_net_plugin_off_with_efa(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report the word `none` beside EFA devices."""
    run = context.run
    if setting.name != _NAME or (setting.value or "").lower() != "none" or run is None or (run.nodes or 1) < 2:
        return
    if setting.via != "mpirun" and not is_effective(setting, context.container):
        return
    ranks = ranks_of(setting, context)
    # NCCL_NET=Socket says that TCP is meant.
    if any(one.setting("NCCL_NET") is not None or value_of(one, _RDMA) == "0" for one in ranks):
        return
    if any(parse_quantity(one.quantity(_DEVICE)) for one in ranks):
        yield Problem(
            setting.at,
            f"{_NAME}=none loads no plugin, so NCCL does not use the {_DEVICE} devices of the pods",
            f"remove {_NAME}",
        )
