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

from trainyard.analysis.resources.device_plugins import is_unknown, meant, offered
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.kubernetes.extended_resources import is_device
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
    names = (*container.limits, *container.requests)
    wanted = {name for name in names if is_device(name) and not is_accelerator(name)}
    if not wanted:
        return
    devices = offered(context.project)
    for name in sorted(wanted):
        if not is_unknown(name, devices) or meant(name, devices, container.at) is not None:
            continue
        prefix = name.partition("/")[0]
        known = [*devices.by_prefix.get(prefix, ()), *(f"{prefix}/{one}" for one in sorted(devices.any_prefix))]
        field = "limits" if name in container.limits else "requests"
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"no device plugin in these files offers {name}: the pod stays Pending",
            f"use one of {format_list(known)}",
        )
