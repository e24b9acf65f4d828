"""A network interface name is used as an RDMA device name, and matches nothing.

An adapter has two names: the network interface (`eth0`, `ens5`, `ib0`), which `ip link` lists, and the RDMA device
(`mlx5_0`, `rocep23s0f0`, `bnxt_re0`, `rdmap16s27`), which `ibv_devices` lists. `NCCL_IB_HCA` takes RDMA devices: with
`eth0` no device matches. NCCL then falls back to TCP sockets without an error. The run works, many times slower. RD011
is about the opposite mistake.

The rule ignores names that both may have, such as `ibp59s0`, lists that exclude (`^`), and runs that turn RDMA off.

Write the adapter's other name. To use TCP on purpose, set `NCCL_IB_DISABLE=1` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.environment import value_of
from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Container, Setting

INTERFACE = re.compile(r"((eth|ib|net|bond)\d+|en[sopx]\w*\d\w*|lo|docker\d*)$")


@rule(
    code="RD017",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/init.cc: NCCL_IB_HCA filters RDMA devices",
        "linux-rdma/rdma-core kernel-boot/rdma-persistent-naming.rules",
    ),
    needs=("NCCL_IB_HCA",),
)
def interface_as_rdma_device(setting: Setting, context: Context) -> Iterator[Problem]:
    """An interface in the list of adapters."""
    value = literal_value(setting) if setting.name == lists.ADAPTERS else None
    if value is None or _without_rdma(context.container):
        return
    listed = lists.parse_list(value)
    for name in () if listed.excludes else listed.names:
        if INTERFACE.match(name):
            yield Problem(
                setting.at,
                f"{setting.name} takes RDMA devices, but `{name}` is a network interface: NCCL falls back to TCP",
                "write a name that `ibv_devices` lists, such as `=mlx5_0`; to turn RDMA off, set NCCL_IB_DISABLE=1",
            )


def _without_rdma(container: Container | None) -> bool:
    """Returns true if RDMA is turned off, so NCCL does not read the list."""
    return container is not None and (
        value_of(container, "NCCL_IB_DISABLE") == "1" or value_of(container, "NCCL_NET") == "Socket"
    )
