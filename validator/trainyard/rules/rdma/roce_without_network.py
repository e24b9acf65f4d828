"""The pods use RoCE and have no interface of the adapter, so its table of addresses is empty and NCCL cannot use it.

The RDMA shared device plugin gives a pod the files below `/dev/infiniband` alone. RoCE also needs a network interface
of the same adapter inside the pod: the adapter's table (GID) has only addresses of such interfaces. Without one, all
entries are zero, and connections end with "Failed to modify QP to RTR" or "No such device".

The rule applies to jobs of several nodes that request `rdma/...` and choose an entry of the table, with
`NCCL_IB_GID_INDEX` or `UCX_IB_GID_INDEX`: with InfiniBand nobody does. It leaves out resources with InfiniBand in
their names, pods with the network of the node, and those with an annotation for networks.

Attach a secondary network on the adapter, for example macvlan, with `k8s.v1.cni.cncf.io/networks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources.devices import rdma_resources
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Container, Role, Setting
from trainyard.startup import pattern

# The prefix of the plugin for shared devices: a virtual function has another, and Multus hands it to the pod.
PREFIX = "rdma/"
INFINIBAND = pattern(r"infiniband|(?<![a-z])ib(?![a-z])")
INDEXES = ("NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX")
# Parts of annotations by which Multus, clouds and other plugins attach networks.
SIGNS = ("network", "cni", "interface", "eni", "rdma")


@rule(
    code="RD037",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/Mellanox/k8s-rdma-shared-dev-plugin issues 72 and 101: RoCE needs a device of the NIC in the pod",
        "github.com/Mellanox/network-operator issue 28; github.com/projectcalico/calico issue 8482",
    ),
    needs=INDEXES,
)
def roce_without_network(role: Role, context: Context) -> Iterator[Problem]:
    """Report RoCE without an interface of the adapter."""
    container, run, pod = role.container, context.run, role.pod
    if container is None or run is None or run.kind in RUNTIMES or not has_all_pods(run) or pod.host_network:
        return
    if (run.nodes or 0) < 2 or not role.trains or not _is_shared(container):
        return
    written = " ".join(map(str, (*pod.annotations, *run.annotations))).lower()
    index = _index(container)
    if index is not None and not any(sign in written for sign in SIGNS):
        yield Problem(
            index.at,
            f"{index.name} is for RoCE, and the pods have no interface of the adapter: its GID table is empty",
            "attach a secondary network on the adapter with the annotation `k8s.v1.cni.cncf.io/networks`",
        )


def _is_shared(container: Container) -> bool:
    names = rdma_resources(container)
    disabled = container.setting("NCCL_IB_DISABLE")
    off = disabled is not None and disabled.value != "0"
    return bool(names) and all(name.startswith(PREFIX) and not INFINIBAND.search(name) for name in names) and not off


def _index(container: Container) -> Setting | None:
    """Returns the setting that chooses an entry of the table."""
    for name in INDEXES:
        setting = container.setting(name)
        number = parse_integer(setting.value) if setting is not None else None
        if number is not None and number >= 0:
            return setting
    return None
