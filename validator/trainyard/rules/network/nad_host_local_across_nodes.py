"""host-local allocates addresses per node, so pods of one job on two nodes get the same address.

`host-local` keeps its allocations in files on the node and does not know those of other nodes. On a secondary network
that all nodes share, through macvlan, ipvlan, Open vSwitch, an SR-IOV function or a host's card, each node starts with
the first address of the range. Two workers then have the same address: NCCL's connections reach the wrong pod, break
off or hang, and no message shows the cause. The cluster's own network is not affected, because there each node has its
own subnet.

The rule checks jobs of several pods, DaemonSets, and Deployments and StatefulSets with several replicas that may run on
different nodes.

Use a cluster-wide IPAM plugin, such as `whereabouts` or `nv-ipam`, or a separate range for each node.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni, multus
from trainyard.analysis.pods.placement import is_on_one_node
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Network, Pod, Role, Run

SEVERAL = 2
SHARED = ("macvlan", "ipvlan", "sriov", "ib-sriov", "host-device", "ipoib", "ovs")
# Kinds whose replicas the scheduler spreads over nodes.
REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet")


@rule(
    code="NT015",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/ipam/host-local/backend/disk/backend.go: state below /var/lib/cni",
        "cni.dev/plugins/current/ipam/host-local: addresses are unique on a single host",
        "github.com/k8snetworkplumbingwg/multus-cni issue 52, sriov-network-device-plugin issue 338, ovs-cni issue 222",
    ),
    needs=("NetworkAttachmentDefinition",),
)
def nad_host_local_across_nodes(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report networks of pods on several nodes on which each node allocates addresses by itself."""
    run, role = context.run, context.role
    if run is None or role is None or not _on_several_nodes(run, role) or is_on_one_node(pod):
        return
    for attachment in multus.attachments(pod):
        network = multus.find_network(attachment, run.namespace, context.project.networks)
        for place in _counted_by_node(network) if network is not None else ():
            yield Problem(
                place,
                f"host-local gives pods of {run.kind} {run.name} on different nodes the same addresses",
                "use whereabouts or nv-ipam",
            )


def _on_several_nodes(run: Run, role: Role) -> bool:
    if run.kind in REPLICATED:
        replicas = run.spec.get("replicas")
        return isinstance(replicas, int) and replicas >= SEVERAL
    return run.kind == "DaemonSet" or (run.is_job and role.trains and (run.nodes or 0) >= SEVERAL)


def _counted_by_node(network: Network) -> Iterator[Place]:
    for plugin, at in cni.plugins(network, *SHARED):
        ipam = cni.field_value(plugin, "ipam")
        if cni.field_value(ipam, "type") == "host-local":
            yield at.child(cni.field_name(plugin, "ipam"), cni.field_name(ipam, "type"))
