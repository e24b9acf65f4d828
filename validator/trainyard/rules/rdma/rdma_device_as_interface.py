"""An RDMA device is named where a network interface is asked for, or the other way round, and nothing matches it.

A card has two names: the RDMA device (`mlx5_0`, `rocep23s0f0`, `bnxt_re0`, `rdmap16s27`), which `ibv_devices` lists,
and the network interface (`eth0`, `ens5`, `ib0`), which `ip link` lists. `NCCL_SOCKET_IFNAME` and `GLOO_SOCKET_IFNAME`
take interfaces: with `mlx5_0` NCCL ends with `no socket interface found`, and Gloo finds no address. `NCCL_IB_HCA`
takes RDMA devices: with `eth0` no device matches, and NCCL goes on over TCP sockets, many times slower.

Names that both may have, such as `ibp59s0`, lists that exclude (`^`), and runs that turned RDMA off are left alone.

Write the other name of the card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.environment import value_of
from validator.aspects.settings import literal
from validator.facts import nccl_lists
from validator.model import Container, Setting
from validator.rule import Context, Problem, rule

INTERFACE_LISTS = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
# rdma-core renames by these patterns where it does not keep the driver's name; `ib...` is an interface's name as well.
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
    """The wrong one of a card's two names."""
    if setting.name not in INTERFACE_LISTS and setting.name != nccl_lists.ADAPTERS:
        return
    value = literal(setting)
    if value is None:
        return
    listed = nccl_lists.read(value)
    if listed.excludes:
        return
    for name in listed.names:
        if setting.name == nccl_lists.ADAPTERS and INTERFACE.match(name) and not _without_rdma(context.container):
            yield Problem(
                setting.at,
                f"{setting.name} takes RDMA devices, and {name} is a network interface: nothing matches it",
                "write a name that `ibv_devices` lists, such as `=mlx5_0`; to go without RDMA set NCCL_IB_DISABLE=1",
            )
        elif setting.name != nccl_lists.ADAPTERS and RDMA.match(name):
            yield Problem(
                setting.at,
                f"{setting.name} takes network interfaces, and {name} is an RDMA device: nothing matches it",
                "write a name that `ip link` lists, such as `eth0`",
            )


def _without_rdma(container: Container | None) -> bool:
    """Whether the process does not look at the list."""
    return container is not None and (
        value_of(container, "NCCL_IB_DISABLE") == "1" or value_of(container, "NCCL_NET") == "Socket"
    )
