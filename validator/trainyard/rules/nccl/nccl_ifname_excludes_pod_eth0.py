"""`NCCL_SOCKET_IFNAME` excludes the pod's only network interface, so NCCL cannot connect.

Lists such as `^docker,lo,veth,eth` come from machines where `eth` is the management network. A pod without host network
has only `eth0` and `lo`. NCCL must find an interface that the list allows, or it ends with "Bootstrap : no socket
interface found". If only `lo` is left, each pod offers its peers 127.0.0.1, and they wait for each other until the
timeout.

The rule ignores pods with additional networks, with host network, with resource claims, or with a template that is not
in the files.

Remove the variable, or write `=eth0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network.interfaces import interfaces
from trainyard.analysis.pods.environment import role_of_ranks
from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting


@rule(
    code="NC013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "NVIDIA/nccl v2.30.7-1 src/os/linux.cc: ncclOsFindInterfaces",
    ),
    needs=("_IFNAME",),
)
def nccl_ifname_excludes_pod_eth0(setting: Setting, context: Context) -> Iterator[Problem]:
    """An exclude list that leaves no usable interface."""
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    listed = lists.parse_list(value or "")
    if not listed.excludes:
        return
    role = role_of_ranks(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    if present is None or not all(map(listed.names_it, present)):
        return
    only_loopback = not listed.names_it("lo")
    if only_loopback and (context.run is None or (context.run.nodes or 1) < 2):
        return
    left = "only lo, which does not reach other pods" if only_loopback else "no interface"
    yield Problem(
        setting.at,
        f"`{value}` leaves NCCL {left} (this pod has {' and '.join(present)})",
        'remove the variable, or write "=eth0"',
    )
