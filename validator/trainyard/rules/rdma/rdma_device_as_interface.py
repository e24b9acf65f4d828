"""An RDMA device name is used as a network interface name, or vice versa, and matches nothing.

An adapter has two names: the RDMA device (`mlx5_0`, `rocep23s0f0`, `bnxt_re0`, `rdmap16s27`), which `ibv_devices`
lists, and the network interface (`eth0`, `ens5`, `ib0`), which `ip link` lists. `NCCL_SOCKET_IFNAME` and
`GLOO_SOCKET_IFNAME` take interfaces: with `mlx5_0` NCCL fails with `no socket interface found`, and Gloo finds no
address. `NCCL_IB_HCA` takes RDMA devices: with `eth0` no device matches, and NCCL falls back to TCP sockets, which are
many times slower.

The rule ignores names that both may have, such as `ibp59s0`, lists that exclude (`^`), and runs that turn RDMA off.

Write the adapter's other name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.environment import value_of
from trainyard.analysis.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts import nccl_lists
from trainyard.model.run import Container, Setting

INTERFACE_LISTS = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
# The driver's names, and those of rdma-core's renaming; `ib...` is the name of an interface as well.
RDMA = re.compile(r"(mlx[45]_(bond_)?\d+|roce[px]\w+|bnxt_re\d+|irdma\d+|rdmap\d+s\d+\w*|efa_\d+|hfi1_\d+)$")
INTERFACE = re.compile(r"((eth|ib|net|bond)\d+|en[sopx]\w*\d\w*|lo|docker\d*)$")


@rule(
    code="RD011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/init.cc: NCCL_IB_HCA filters RDMA devices",
        "linux-rdma/rdma-core kernel-boot/rdma-persistent-naming.rules",
    ),
    needs=("_IFNAME", "NCCL_IB_HCA"),
)
def rdma_device_as_interface(setting: Setting, context: Context) -> Iterator[Problem]:
    """The wrong one of an adapter's two names."""
    if setting.name not in INTERFACE_LISTS and setting.name != nccl_lists.ADAPTERS:
        return
    value = literal_value(setting)
    if value is None:
        return
    listed = nccl_lists.parse_list(value)
    if listed.excludes:
        return
    for name in listed.names:
        if setting.name == nccl_lists.ADAPTERS and INTERFACE.match(name) and not _without_rdma(context.container):
            yield Problem(
                setting.at,
                f"{setting.name} takes RDMA devices, but {name} is a network interface: no device matches",
                "write a name that `ibv_devices` lists, such as `=mlx5_0`; to turn RDMA off, set NCCL_IB_DISABLE=1",
            )
        elif setting.name != nccl_lists.ADAPTERS and RDMA.match(name):
            yield Problem(
                setting.at,
                f"{setting.name} takes network interfaces, but {name} is an RDMA device: no interface matches",
                "write a name that `ip link` lists, such as `eth0`",
            )


def _without_rdma(container: Container | None) -> bool:
    """Returns true if RDMA is turned off, so NCCL does not read the list."""
    return container is not None and (
        value_of(container, "NCCL_IB_DISABLE") == "1" or value_of(container, "NCCL_NET") == "Socket"
    )
