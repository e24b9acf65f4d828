"""`NCCL_SOCKET_IFNAME` lists the loopback or a bridge of the node, so pods give each other addresses of their own node.

Without a leading `^`, the list names the interfaces to use, and NCCL takes them in the order of the kernel, in which
`lo` comes first. The addresses of `lo`, `docker0`, `virbr0`, `cni0` and `flannel.1` reach no other node. A run on
several nodes hangs in its first collective, or fails with "connection refused". The list is usually meant as one of
interfaces to leave out.

Write `^` before the list, or name the interface of the network between the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting

LOCAL = ("lo", "docker", "virbr", "cni0", "cbr0", "flannel", "veth", "cali")


@rule(
    code="NC044",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; docs/userguide/source/env.rst",
        "github.com/horovod/horovod issue 414",
    ),
    fix="unsafe",
    needs=("_IFNAME",),
)
def nccl_ifname_lists_loopback(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report interfaces that reach no other node."""
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    run = context.run
    if value is None or run is None or (run.nodes or 1) < 2:
        return
    listed = lists.parse_list(value)
    local = [name for name in listed.names if name == "lo" or name.startswith(LOCAL[1:])]
    if listed.excludes or not local:
        return
    all_local = len(local) == len(listed.names)
    fixed = f"^{value}" if all_local and len(local) > 1 else ",".join(n for n in listed.entries if n not in local)
    yield Problem(
        setting.at,
        f"{setting.name} names {format_list(local)}, which no other node reaches",
        f'write "{fixed}"' if fixed else "name the interface of the network between the nodes",
        change_value(setting, fixed) if fixed.startswith("^") else (),
    )
