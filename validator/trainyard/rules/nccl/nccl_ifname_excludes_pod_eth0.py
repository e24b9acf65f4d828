"""The exclude list in `NCCL_SOCKET_IFNAME` names the only interface of the pod, so NCCL has nothing to connect with.

Lists such as `^docker,lo,veth,eth` come from machines where `eth` is the management network. A pod without host
network has just `eth0` and `lo`. `NCCL_SOCKET_IFNAME` is a command: NCCL finds a matching interface or ends with
"Bootstrap : no socket interface found". Where only `lo` is left, each pod offers its peers 127.0.0.1, and they wait
for each other until the timeout.

Pods with further networks, with the host's network, with resource claims, or whose template is not in the files are
left alone.

Remove the variable, or write `=eth0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.interfaces import interfaces
from validator.aspects.ranks import role_of
from validator.aspects.settings import literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC013",
    severity="error",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "NVIDIA/nccl v2.30.7-1 src/os/linux.cc: ncclOsFindInterfaces",
    ),
    needs=("_IFNAME",),
)
def nccl_ifname_excludes_pod_eth0(setting: Setting, context: Context) -> Iterator[Problem]:
    """An exclude list that leaves no interface."""
    value = literal(setting) if setting.name == nccl_lists.INTERFACES else None
    listed = nccl_lists.read(value or "")
    if not listed.excludes or not listed.entries:
        return
    role = role_of(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    if present is None or not all(map(listed.names_it, present)):
        return
    only_loopback = not listed.names_it("lo")
    if only_loopback and (context.run is None or (context.run.nodes or 1) < 2):
        return
    left = "only lo, which reaches no other pod" if only_loopback else "no interface"
    yield Problem(
        setting.at,
        f"`{value}` leaves NCCL {left}: this pod has {' and '.join(present)}",
        'remove the variable, or write "=eth0"',
    )
