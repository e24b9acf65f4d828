"""A pod joins a network whose interface is a device, and no container of the pod asks for that device.

The network names a resource of a device plugin, and its plugin `sriov`, `ib-sriov` or `host-device` makes the
interface of the device that the pod was given. A pod that asks for none is given none: the plugin stops with `VF pci
addr is required`, the pod stays in `ContainerCreating`, and the rest of the job waits for it with its GPUs.

Ask for one device in `resources.limits` for each network of the resource. Where the network resources injector of the
SR-IOV operator runs, it adds the request itself, which is why the rule is not on by default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from validator.aspects import cni, multus
from validator.aspects.known import pods_are_whole
from validator.facts.quantities import number
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="NT024",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate, deviceID",
        "k8snetworkplumbingwg/sriov-cni v2.10.0 pkg/config/config.go: LoadConf, VF pci addr is required",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def network_resource_not_asked(role: Role, context: Context) -> Iterator[Problem]:
    """Networks of a device that no container asks for."""
    run = context.run
    if run is None or not pods_are_whole(run) or "resourceClaims" in role.pod.tree:
        return
    attached: Counter[str] = Counter()
    for attachment in multus.attachments(role.pod):
        network = multus.network(attachment, run.namespace, context.project.networks)
        if network is not None and network.resource and cni.takes_device(network):
            attached[network.resource] += 1
    for resource, count in attached.items():
        if not any(number(container.quantity(resource)) for container in role.pod.containers):
            networks = "network" if count == 1 else "networks"
            yield Problem(
                multus.place(role.pod),
                f"the pod joins {count} {networks} of {resource}, and no container asks for it",
                f"add `{resource}: {count}` to the limits of the training container",
            )
