"""The pod requests more virtual functions than it attaches networks for them, so some have no interface.

Multus hands each attached network one of the pod's devices. A virtual function without a network stays unconfigured: it
has no address and no interface in the pod, and NCCL does not use it, although the node has one function less for
others.

The rule applies if the files define all networks of the pod, of which at least one is of type `sriov` and takes this
resource. Container by container, other resources are not compared.

Name the network once for each device, as in `rail,rail`, or request fewer devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network import cni, multus
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Pod

# This network takes the place of that of the cluster, and a device as well.
DEFAULT = "v1.multus-cni.io/default-network"


@rule(
    code="RD020",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate counts devices up",
        "github.com/k8snetworkplumbingwg/sriov-cni issue 310",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def device_without_network(pod: Pod, context: Context) -> Iterator[Problem]:
    """More requested functions than attached networks."""
    run = context.run
    if run is None or not has_all_pods(run) or DEFAULT in pod.annotations:
        return
    attached = multus.attachments(pod)
    networks = [multus.find_network(one, run.namespace, context.project.networks) for one in attached]
    if None in networks:
        return
    taken = [one.resource for one in networks if one is not None and one.resource and any(cni.plugins(one, "sriov"))]
    for resource in dict.fromkeys(taken):
        asking = [one for one in pod.containers if one.quantity(resource) is not None]
        devices = sum(parse_quantity(one.quantity(resource)) or 0 for one in asking)
        count = taken.count(resource)
        if asking and devices > count:
            yield Problem(
                quantity_at(run, context.role, asking[0], "limits", resource),
                f"the pod requests {devices:g} of {resource} but `{multus.ANNOTATION}` attaches {count}: "
                "the others get no interface",
                "name the network once for each device, or request fewer",
            )
