"""A pod attaches more networks of a device than it requests devices, so the pod does not start.

Multus assigns one allocated device to each attached network whose definition names the resource, in the order of the
annotation. If there are more networks than devices, the rest get none: the `sriov`, `ib-sriov` or `host-device` plugin
fails, the pod stays in `ContainerCreating`, and its events show `FailedCreatePodSandBox`. Fewer networks than devices
are not an error, but a device stays unused.

The rule ignores containers that request none of the devices, because an injector may add the request.

Request one device for each attached network of the resource.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network import cni, multus
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role


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
    """More attached networks than requested devices."""
    run = context.run
    if run is None or not has_all_pods(run):
        return
    attached: Counter[str] = Counter()
    for attachment in multus.attachments(role.pod):
        network = multus.find_network(attachment, run.namespace, context.project.networks)
        if network is not None and network.resource is not None and cni.takes_device(network):
            attached[network.resource] += 1
    for resource, count in attached.items():
        asking = [
            (one, quantity) for one in role.pod.containers if (quantity := parse_quantity(one.quantity(resource)))
        ]
        devices = sum(quantity for _, quantity in asking)
        if asking and count > devices:
            yield Problem(
                quantity_at(run, role, asking[0][0], "limits", resource),
                f"the pod attaches {count} networks of {resource} but requests {devices:g}",
                f"request {count}, one for each network",
            )
