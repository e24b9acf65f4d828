"""`NCCL_IB_GID_INDEX` selects the link-local address of a RoCE adapter, which no router forwards.

The first two entries of the GID table of a RoCE port, 0 and 1, are its link-local IPv6 address, as RoCE v1 and v2.
Queue pairs between nodes of different subnets then time out with `ibv_poll_cq: Got completion ... status=12`. The
address of the interface follows: with IPv4, 3 is usually RoCE v2.

The rule applies to bonded adapters (`mlx5_bond_0` in `NCCL_IB_HCA`), which are Ethernet, in the same environment or on
the same command line of mpirun. On InfiniBand the variable is not read.

Remove the variable: since 2.21 NCCL finds the entry by itself. With an older one, write the index that `show_gids`
prints for RoCE v2 and the address of the interface.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting


@rule(
    code="NC043",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kernel.org Documentation/infiniband: the GID table of a RoCE port starts with the link-local address",
        "github.com/NVIDIA/nccl issue 769",
    ),
    needs=("NCCL_IB_GID_INDEX",),
)
def gid_index_link_local(setting: Setting, context: Context) -> Iterator[Problem]:
    """The index of a link-local address."""
    if setting.name != "NCCL_IB_GID_INDEX" or context.container is None:
        return
    adapters = context.container.setting("NCCL_IB_HCA")
    index = parse_integer(setting.value)
    if index in (0, 1) and adapters is not None and "mlx5_bond" in (adapters.value or ""):
        message = f"NCCL_IB_GID_INDEX={index} is a link-local address, which is not routed between nodes"
        yield Problem(setting.at, message, "remove it: NCCL 2.21 and later find the entry; older ones mostly need 3")
