"""A container requests a device whose name is a misspelling of one that a device plugin in the same folder offers.

No node has a resource of this name, so the pod stays Pending, and the scheduler reports `Insufficient rdma/...`. A name
is taken for a misspelling if it differs in a letter or two: `rdma/rdma_nics` beside a policy with `rdma_nic`.

[rdma-resource-unknown](rdma-resource-unknown.md) reports other names that no configuration offers, and names that a
configuration in another folder offers.

Write the name as in the configuration, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import unknown_devices
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="RD027",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "Mellanox/k8s-rdma-shared-dev-plugin README.md: resourceName, resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-operator deploy/operator.yaml: RESOURCE_PREFIX",
    ),
)
def rdma_resource_misspelt(container: Container, context: Context) -> Iterator[Problem]:
    """A device whose name differs from an offered one in a letter or two."""
    for device in unknown_devices(container, context.project):
        if device.meant is not None:
            yield Problem(
                quantity_at(context.run, context.role, container, device.field, device.name).key(),
                f"no device plugin in these files offers {device.name}: the pod stays Pending",
                f"did you mean `{device.meant}`?",
            )
