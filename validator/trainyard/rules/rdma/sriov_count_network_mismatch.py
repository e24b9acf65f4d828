"""A pod attaches more networks of a device than it asks devices for, so the last ones get none and the pod fails.

Multus hands one allocated device to each attached network whose definition names the resource, in the order of the
annotation. When the networks are more than the devices, the rest is called without one: the `sriov`, `ib-sriov` or
`host-device` plugin fails, the pod stays in `ContainerCreating`, and its events show `FailedCreatePodSandBox`. Fewer
networks than devices are no fault, though a device stays unused.

Containers that ask for none of it are left alone, as an injector may add the request.

Ask for one device for each attached network of the resource.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from validator.aspects import cni, multus
from validator.aspects.known import pods_are_whole
from validator.facts.extended_resources import quantity_at
from validator.facts.quantities import number
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="RD009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate counts devices up",
        "k8snetworkplumbingwg/sriov-cni pkg/config/config.go: LoadConf needs the device",
        "containernetworking/plugins plugins/main/host-device/host-device.go: loadConf needs one of its selectors",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def sriov_count_network_mismatch(role: Role, context: Context) -> Iterator[Problem]:
    """More networks of a device than devices."""
    run = context.run
    if run is None or not pods_are_whole(run):
        return
    attached: Counter[str] = Counter()
    for attachment in multus.attachments(role.pod):
        network = multus.network(attachment, run.namespace, context.project.networks)
        if network is not None and network.resource is not None and cni.takes_device(network):
            attached[network.resource] += 1
    for resource, count in attached.items():
        asking = [container for container in role.pod.containers if number(container.quantity(resource))]
        devices = sum(number(container.quantity(resource)) or 0 for container in asking)
        if asking and count > devices:
            yield Problem(
                quantity_at(run, role, asking[0], "limits", resource),
                f"the pod attaches {count} networks of {resource} and asks for {devices:g}",
                f"ask for {count}, one for each network",
            )
