"""`NCCL_SOCKET_IFNAME` allows only `eth0`, so NCCL does not use the network that the pod attaches.

Without RDMA devices, NCCL sends all data through the interfaces that the variable allows. A pod that attaches a second
network through Multus, and allows `eth0` alone, trains over the network of the cluster: the attached interface is idle.

The rule ignores pods with RDMA resources, devices of the host, additional capabilities or a network plugin, where
`eth0` only carries the start of the connections. It ignores networks that are named after storage, and runs of a single
pod.

Write the attached interface, such as `=net1`, or remove the network if it serves something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.analysis.network.interfaces import DEFAULT, interfaces
from trainyard.analysis.pods.environment import role_of_ranks
from trainyard.analysis.pods.settings import literal_value
from trainyard.analysis.resources.devices import any_rdma
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Pod, Setting

# Parts of the names of variables that choose a network plugin, such as GPUDirect-TCPX.
PLUGINS = ("NCCL_NET", "TCPX", "FASTRAK", "NCCL_IB_HCA")
STORAGE = ("storage", "nfs", "lustre", "gpfs", "weka", "ceph", "data", "mgmt", "management")


@rule(
    code="NC040",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/transport/net_socket.cc: ncclNetSocketInit",
        "k8snetworkplumbingwg/multus-cni docs/how-to-use.md: Launch pod with text annotation",
        "NCCL 2.32.3 ncclGetUniqueId with NCCL_SOCKET_IFNAME=eth0: Bootstrap: Using eth0 (seen)",
    ),
    needs=("_IFNAME",),
)
def nccl_ifname_ignores_attached_network(setting: Setting, context: Context) -> Iterator[Problem]:
    """A list that leaves out every attached interface."""
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    role, run = role_of_ranks(context), context.run
    if not value or role is None or run is None or not role.trains or (run.nodes or 1) < 2:
        return
    if multus.ANNOTATION not in role.pod.annotations or not any(one.gpus for one in role.pod.containers):
        return
    if _has_devices(role.pod) or _is_for_storage(role.pod):
        return
    listed = lists.parse_list(value)
    present = interfaces(role.pod, run)
    attached = [name for name in present or () if name != DEFAULT]
    if not attached or listed.excludes or not listed.names_it(DEFAULT) or any(map(listed.names_it, attached)):
        return
    yield Problem(
        setting.at,
        f"NCCL uses {DEFAULT} alone, so the attached network ({', '.join(attached)}) is idle",
        f'write "={attached[0]}"',
    )


def _has_devices(pod: Pod) -> bool:
    """Returns true if NCCL may use more than sockets: RDMA devices, or a plugin."""
    if any(volume.kind == "hostPath" for volume in pod.volumes):
        return True
    if any(word in setting.name for one in pod.containers for setting in one.settings for word in PLUGINS):
        return True
    return any_rdma(pod.containers) or any(one.privileged or one.capabilities for one in pod.containers)


def _is_for_storage(pod: Pod) -> bool:
    return any(word in multus.annotation_text(pod).lower() for word in STORAGE)
