"""`NCCL_SOCKET_IFNAME` names interfaces that this pod does not have, so NCCL fails at start.

Names such as `ens5`, `ib0` or `bond0` are those of the node. A pod without host network has `eth0`, and one more
interface for each network that it attaches: Multus calls them `net1`, `net2` and so on unless the annotation says
otherwise. If no interface matches, NCCL ends before the first collective with "Bootstrap : no socket interface found".

The rule reads the annotations of Multus and of Google Kubernetes Engine. It ignores pods with other network
annotations, with resource claims, or with a template that is not in the files. A list is accepted if one entry matches.

Write the interface name inside the pod: `=eth0`, or `=net1` for an attached network.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network.interfaces import interfaces
from trainyard.analysis.pods.environment import role_of_ranks
from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting


@rule(
    code="NC014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "k8snetworkplumbingwg/multus-cni docs/how-to-use.md: Launch pod with text annotation with interface name",
    ),
    needs=("_IFNAME",),
)
def nccl_ifname_absent_in_pod(setting: Setting, context: Context) -> Iterator[Problem]:
    """A list that matches no interface of the pod."""
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    # NCCL ignores a value of one character.
    if value is None or len(value) < 2:
        return
    listed = lists.parse_list(value)
    if listed.excludes or not listed.names or listed.names_it("lo"):
        return
    # Other rules report signs in the wrong place, and names of RDMA devices.
    if any(entry[0] in "^=" for entry in listed.entries) or any(map(lists.RDMA_DEVICE.match, listed.names)):
        return
    role = role_of_ranks(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    if present is None or any(map(listed.names_it, present)):
        return
    yield Problem(
        setting.at,
        f"this pod has no interface `{listed.names[0]}`, only {format_list(present)}",
        f'write "={present[-1]}"',
    )
