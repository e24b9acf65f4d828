"""`NCCL_SOCKET_IFNAME` names interfaces that this pod does not have, so NCCL ends before the first collective.

Names such as `ens5`, `ib0` or `bond0` are those of the machine. A pod without host network sees `eth0`, and one
interface more for each network that it attaches: Multus calls them `net1`, `net2` and so on unless the annotation
says otherwise. NCCL finds a matching interface or gives up with "Bootstrap : no socket interface found".

The rule reads the annotations of Multus and of Google Kubernetes Engine. Pods with other network annotations,
resource claims, or a template that is not in the files are left alone; a list of which one entry fits is fine.

Write the name inside the pod: `=eth0`, or `=net1` for an attached network.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.interfaces import DEFAULT, interfaces
from validator.aspects.ranks import role_of
from validator.aspects.settings import literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC014",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/bootstrap.cc: bootstrapNetInit",
        "k8snetworkplumbingwg/multus-cni docs/how-to-use.md: Launch pod with text annotation with interface name",
    ),
    needs=("_IFNAME",),
)
def nccl_ifname_absent_in_pod(setting: Setting, context: Context) -> Iterator[Problem]:
    """A list of which no entry fits an interface of the pod."""
    value = literal(setting) if setting.name == nccl_lists.INTERFACES else None
    # NCCL takes a value of one character for none.
    if value is None or len(value) < 2:
        return
    listed = nccl_lists.read(value)
    if listed.excludes or not listed.names or listed.names_it(DEFAULT) or listed.names_it("lo"):
        return
    if any(entry[0] in "^=" for entry in listed.entries):
        return
    role = role_of(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    if present is None or any(map(listed.names_it, present)):
        return
    yield Problem(
        setting.at,
        f"this pod has no interface `{listed.names[0]}`: it has {', '.join(present)}",
        f'write "={present[-1]}"',
    )
