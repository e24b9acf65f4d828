"""`NCCL_IB_GID_INDEX` is one number for all pods, but with macvlan each pod has its address at another index.

A macvlan interface adds its addresses to the GID table of the adapter, behind those of the node and of other pods. The
index depends on the order in which the pods of a node started. With a wrong one, NCCL fails with
`Call to ibv_modify_qp failed` on some nodes.

The rule applies if the pod attaches a macvlan or ipvlan network of the files, and the index is not -1.

Remove the variable: since 2.21 NCCL finds the entry by itself. With an older one, let the start script find the index.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni, multus
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting


@rule(
    code="NC042",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_GID_INDEX",
        "github.com/NVIDIA/nccl issue 718",
    ),
    needs=("NCCL_IB_GID_INDEX",),
)
def gid_index_under_macvlan(setting: Setting, context: Context) -> Iterator[Problem]:
    """A fixed index in pods with a macvlan network."""
    if setting.name != "NCCL_IB_GID_INDEX" or context.run is None or context.pod is None:
        return
    index = parse_integer(setting.value)
    if index is None or index < 0 or context.pod.host_network:
        return
    for attachment in multus.attachments(context.pod):
        network = multus.find_network(attachment, context.run.namespace, context.project.networks)
        if network is not None and any(cni.plugins(network, "macvlan", "ipvlan")):
            message = f"NCCL_IB_GID_INDEX={index} is fixed, but pods of the network `{network.name}` have other indexes"
            yield Problem(setting.at, message, "remove it: NCCL 2.21 and later find the entry")
            return
