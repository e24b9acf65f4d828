"""A pod joins a network that needs a device, and requests a device with almost this name instead.

A network with the annotation `k8s.v1.cni.cncf.io/resourceName` takes the interface from a device of this name, which
the pod requests. No node has a device with a misspelt name: the pod stays Pending. The scheduler reports `Insufficient
nvidia.com/rail_1` where the network has `nvidia.com/rail1`.

The rule applies if the names differ in a letter or two, not only in a number or the last letter, and no network and no
configuration of a device plugin in the files has the requested one.

Write the name as in the network.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni, multus
from trainyard.analysis.resources.device_plugins import offered
from trainyard.analysis.resources.devices import quantity_at, requested_devices
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Role

_ALIKE = 0.85


@rule(
    code="NT136",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate, deviceID",
        "kubernetes.io/docs/concepts/configuration/manage-resources-containers: extended resources",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def network_resource_misspelt(role: Role, context: Context) -> Iterator[Problem]:
    """Report requests of a device whose name is almost that of an attached network's."""
    missing = _missing(role, context)
    if not missing:
        return
    named = {one.resource for one in context.project.networks} | set(offered(context.project).names)
    for container in role.pod.containers:
        for name, field in requested_devices(container):
            near = closest_match(name, missing, _ALIKE) if name not in named else None
            if near is None or near.partition("/")[0] != name.partition("/")[0] or _is_series(near, name):
                continue
            yield Problem(
                quantity_at(context.run, context.role, container, field, name).key(),
                f"the pod joins a network of `{near}` and requests `{name}`, which nothing in the files offers",
                f"did you mean `{near}`?",
            )


def _missing(role: Role, context: Context) -> list[str]:
    """Returns the devices of the networks of a pod that none of its containers requests."""
    run = context.run
    wanted = set()
    for attachment in multus.attachments(role.pod) if run is not None else ():
        network = multus.find_network(attachment, run.namespace, context.project.networks) if run is not None else None
        if network is not None and network.resource and cni.takes_device(network):
            wanted.add(network.resource)
    given = {name for container in role.pod.containers for name, _ in requested_devices(container)}
    return sorted(wanted - given)


def _is_series(one: str, other: str) -> bool:
    """True if the names differ in numbers or the last letter alone, as those of several adapters."""
    plain = ["".join("0" if sign.isdigit() else sign for sign in name) for name in (one, other)]
    return plain[0] == plain[1] or one[:-1] == other[:-1]
