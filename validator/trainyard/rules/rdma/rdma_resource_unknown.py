"""A container asks for a device that the configured device plugins do not offer, so its pod stays pending.

The name of a device is made of the prefix and the name in the device plugin's configuration: `rdma/` unless it says
otherwise for the RDMA shared device plugin, and the site's choice for the SR-IOV device plugin and operator. When no
node offers the resource, the scheduler reports `Insufficient rdma/...` for ever; nothing else points to the spelling.

Only names whose prefix one of the configurations in the files uses are looked at: others may belong to plugins that
are not in the files.

Write the name as the configuration has it, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.device_plugins import offered
from validator.facts.devices import is_accelerator
from validator.facts.extended_resources import is_device, quantity_at
from validator.model import Container
from validator.rule import Context, Problem, rule


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
    """A device of a known plugin under a name that it does not offer."""
    names = (*container.limits, *container.requests)
    wanted = {name for name in names if is_device(name) and not is_accelerator(name)}
    if not wanted:
        return
    devices = offered(context.project)
    for name in sorted(wanted):
        prefix, _, short = name.partition("/")
        if prefix not in devices.prefixes or name in devices.names or short in devices.any_prefix:
            continue
        field = "limits" if name in container.limits else "requests"
        known = ", ".join(sorted(other for other in devices.names if other.startswith(f"{prefix}/")))
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"no device plugin in these files offers {name}: the pod stays pending",
            f"offered are {known}",
        )
