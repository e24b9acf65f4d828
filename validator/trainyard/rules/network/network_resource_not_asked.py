"""A pod joins a network that needs a device, but no container of the pod requests that device.

The network names a resource of a device plugin, and its plugin `sriov`, `ib-sriov` or `host-device` creates the
interface from the device allocated to the pod. A pod without a request gets no device: the plugin stops with `VF pci
addr is required`, the pod stays in `ContainerCreating`, and the rest of the job waits for it with its GPUs.

Request one device in `resources.limits` for each network of the resource. The network resources injector of the SR-IOV
operator, where it runs, adds the request itself, so the rule is off by default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network import cni, multus
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role


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
    """Report networks of a device that no container requests."""
    run = context.run
    if run is None or not has_all_pods(run) or "resourceClaims" in role.pod.tree:
        return
    attached: Counter[str] = Counter()
    for attachment in multus.attachments(role.pod):
        network = multus.find_network(attachment, run.namespace, context.project.networks)
        if network is not None and network.resource and cni.takes_device(network):
            attached[network.resource] += 1
    for resource, count in attached.items():
        if not any(parse_quantity(container.quantity(resource)) for container in role.pod.containers):
            networks = "network" if count == 1 else "networks"
            yield Problem(
                multus.annotation_place(role.pod),
                f"the pod joins {count} {networks} of {resource}, but no container requests it",
                f"add `{resource}: {count}` to the limits of the training container",
            )
