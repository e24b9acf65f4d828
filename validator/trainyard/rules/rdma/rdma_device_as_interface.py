"""An RDMA device name is used as a network interface name, and matches nothing.

An adapter has two names: the RDMA device (`mlx5_0`, `rocep23s0f0`, `bnxt_re0`, `rdmap16s27`), which `ibv_devices`
lists, and the network interface (`eth0`, `ens5`, `ib0`), which `ip link` lists. `NCCL_SOCKET_IFNAME` and
`GLOO_SOCKET_IFNAME` take interfaces: with `mlx5_0` NCCL fails with `no socket interface found`, and Gloo finds no
address. RD017 is about the opposite mistake.

The rule ignores names that both may have, such as `ibp59s0`, and lists that exclude (`^`).

Write the adapter's other name.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting

INTERFACE_LISTS = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")


@rule(
    code="RD011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "linux-rdma/rdma-core kernel-boot/rdma-persistent-naming.rules",
    ),
    needs=("_IFNAME",),
)
def rdma_device_as_interface(setting: Setting) -> Iterator[Problem]:
    """A device in a list of interfaces."""
    value = literal_value(setting) if setting.name in INTERFACE_LISTS else None
    if value is None:
        return
    listed = lists.parse_list(value)
    for name in () if listed.excludes else listed.names:
        if lists.RDMA_DEVICE.match(name):
            yield Problem(
                setting.at,
                f"{setting.name} takes network interfaces, but `{name}` is an RDMA device: no interface matches",
                "write a name that `ip link` lists, such as `eth0`",
            )
