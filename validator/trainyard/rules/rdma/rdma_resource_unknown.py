"""A container requests a device that no configured device plugin offers, so its pod stays Pending.

The name of a device consists of the prefix and the name in the device plugin's configuration. The RDMA shared device
plugin uses the prefix `rdma/` by default; for the SR-IOV device plugin and operator the site chooses it. If no node
offers the resource, the scheduler reports `Insufficient rdma/...` forever, and nothing else points to the spelling.

The rule checks only names whose prefix is used by one of the configurations in the files, because others may belong to
plugins that are not in the files.

Write the name as in the configuration, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.device_plugins import offered
from trainyard.analysis.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.devices import is_accelerator
from trainyard.facts.extended_resources import is_device
from trainyard.model.run import Container


@rule(
    code="RD007",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "Mellanox/k8s-rdma-shared-dev-plugin README.md: resourceName, resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: resourcePrefix",
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
        prefix, _, short = name.partition("/")
        if prefix not in devices.by_prefix or name in devices.names or short in devices.any_prefix:
            continue
        field = "limits" if name in container.limits else "requests"
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"no device plugin in these files offers {name}: the pod stays Pending",
            f"use one of {format_list(devices.by_prefix[prefix])}",
        )
