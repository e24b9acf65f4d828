"""The pod joins a HostDeviceNetwork but requests none of its devices, so its network cannot be set up.

The network operator makes a network of the plugin `host-device` from the object, which moves the device that Multus
hands to it into the pod. Without a device the plugin fails, the pod stays in `ContainerCreating`, and Multus tries
again for ever. RD015 reports pods with too few devices. An injector of the SR-IOV operator may add the request.

Request one device for each attached network, such as `nvidia.com/hostdev: 1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network import multus
from trainyard.analysis.network.device_networks import operator_networks
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod


@rule(
    code="RD021",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/network-operator v26.4.1 manifests/state-hostdevice-network: type host-device",
        "github.com/Mellanox/network-operator issue 1674",
    ),
    needs=("HostDeviceNetwork",),
)
def host_device_network_without_device(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods without any device of the network."""
    run = context.run
    if run is None or not has_all_pods(run) or "resourceClaims" in pod.tree:
        return
    joined = operator_networks(pod, run.namespace, context.project)
    containers = (*pod.containers, *pod.init_containers)
    names = {str(name).rpartition("/")[2] for one in containers for name in chain(one.limits, one.requests)}
    device = next(
        (one.device for one in joined if one.maker.kind == "HostDeviceNetwork" and one.device not in names), ""
    )
    if device:
        yield Problem(
            multus.annotation_place(pod),
            f"the pod joins a network of the device `{device}` and requests none: its network cannot be set up",
            f"request one device for each network, such as `nvidia.com/{device}: 1`",
        )
