"""The host-local plugin counts addresses on each node alone, so pods of one job on two nodes get the same address.

`host-local` keeps what it has handed out in files of the node and knows nothing of the other nodes. On a secondary
network that all nodes share, through macvlan, ipvlan, an SR-IOV function or a host's card, each node starts with the
first address of the range. Two workers then answer to one address: NCCL's connections reach the wrong pod, break off
or hang, and nothing says why. On the cluster's own network this does not happen, for there each node has a subnet.

Use an IPAM plugin that knows the whole cluster, such as `whereabouts` or `nv-ipam`, or a range for each node.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import cni, multus
from validator.model import Network, Run
from validator.rule import Context, Problem, rule
from validator.source import Place

SHARED = ("macvlan", "ipvlan", "sriov", "ib-sriov", "host-device", "ipoib")


@rule(
    code="NT015",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/ipam/host-local/backend/disk/backend.go: state below /var/lib/cni",
        "cni.dev/plugins/current/ipam/host-local: addresses are unique on a single host",
        "github.com/k8snetworkplumbingwg/multus-cni issue 52",
    ),
    needs=("NetworkAttachmentDefinition",),
)
def nad_host_local_across_nodes(run: Run, context: Context) -> Iterator[Problem]:
    """Networks of a job of several pods whose addresses each node counts for itself."""
    if (run.nodes or 0) < 2:
        return
    networks = context.project.networks
    found = [
        network
        for role in run.training_roles
        for attachment in multus.attachments(role.pod)
        if (network := multus.network(attachment, run.namespace, networks)) is not None
    ]
    for network in networks:
        for place in _counted_by_node(network) if any(network is one for one in found) else ():
            yield Problem(
                place,
                f"host-local gives pods of {run.kind} {run.name} on different nodes the same addresses",
                "use whereabouts or nv-ipam",
            )


def _counted_by_node(network: Network) -> Iterator[Place]:
    for plugin, at in cni.plugins(network, *SHARED):
        ipam = cni.value(plugin, "ipam")
        if cni.value(ipam, "type") == "host-local":
            yield at.child(cni.key(plugin, "ipam"), cni.key(ipam, "type"))
