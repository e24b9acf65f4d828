"""A pod joins more networks of an operator than it requests devices, so an interface has no device.

An operator creates a NetworkAttachmentDefinition from each SriovNetwork, SriovIBNetwork, OVSNetwork and
HostDeviceNetwork, with the `resourceName` as the device of each interface. Multus assigns one allocated device to each
attached network. If there are more networks than devices, the plugin of the last one fails, and the pod stays in
`ContainerCreating` with `FailedCreatePodSandBox`.

The rule ignores pods that request none of the devices, because the network resources injector may add the request.
Where it runs, it may also replace a wrong number.

Request one device for each attached network of the resource.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network.device_networks import full_names, operator_networks
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role


@rule(
    code="RD015",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go: RenderNetAttDef, SriovCniResourceName",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate counts devices up",
    ),
    needs=("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork"),
)
def operator_network_count_mismatch(role: Role, context: Context) -> Iterator[Problem]:
    """More attached networks of an operator than requested devices."""
    run = context.run
    if run is None or not has_all_pods(run):
        return
    joined = operator_networks(role.pod, run.namespace, context.project)
    for device, count in Counter(one.device for one in joined).items():
        names = full_names(role.pod.containers, device)
        if len(names) != 1:
            continue
        name = names.pop()
        asking = [one for one in role.pod.containers if parse_quantity(one.quantity(name))]
        devices = sum(parse_quantity(one.quantity(name)) or 0.0 for one in asking)
        if asking and count > devices:
            maker = next(one.maker for one in joined if one.device == device)
            yield Problem(
                quantity_at(run, role, asking[0], "limits", name),
                f"the pod joins {count} networks of {name} but requests {devices:g}",
                f"request {count}, one for each network",
                related=((maker.at.child("spec", "resourceName"), "the device of a network"),),
            )
