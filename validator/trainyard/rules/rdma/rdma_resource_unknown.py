"""A container requests a device that no configured device plugin offers, so its pod stays Pending.

The name of a device consists of the prefix and the name in the device plugin's configuration. The RDMA shared device
plugin uses the prefix `rdma/` by default; for the SR-IOV device plugin and operator the site chooses it. If no node
offers the resource, the scheduler reports `Insufficient rdma/...` forever, and nothing else points to the spelling.

The rule checks only names whose prefix is used by one of the configurations in the files, because others may belong to
plugins that are not in the files. Beside a SriovNetworkNodePolicy, it also checks names with the prefix of the SR-IOV
operator, `openshift.io/`, and names that differ from that of the policy in a few characters. The misspelt name of a
device that the same folder configures is reported by [rdma-resource-misspelt](rdma-resource-misspelt.md).

Write the name as in the configuration, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import offered, unknown_devices
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Container


@rule(
    code="RD007",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "Mellanox/k8s-rdma-shared-dev-plugin README.md: resourceName, resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-operator deploy/operator.yaml: RESOURCE_PREFIX",
    ),
)
def rdma_resource_unknown(container: Container, context: Context) -> Iterator[Problem]:
    """A device under a known plugin's prefix that the plugin does not offer."""
    for device in unknown_devices(container, context.project):
        if device.meant is not None:
            continue
        devices = offered(context.project)
        prefix = device.name.partition("/")[0]
        known = [*devices.by_prefix.get(prefix, ()), *(f"{prefix}/{one}" for one in sorted(devices.any_prefix))]
        yield Problem(
            quantity_at(context.run, context.role, container, device.field, device.name).key(),
            f"no device plugin in these files offers {device.name}: the pod stays Pending",
            f"use one of {format_list(known)}",
        )
