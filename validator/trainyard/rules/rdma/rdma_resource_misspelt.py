"""A container requests a device whose name is a misspelling of one that a device plugin in the same folder offers.

No node has a resource of this name, so the pod stays Pending, and the scheduler reports `Insufficient rdma/...`. A name
is taken for a misspelling if it differs in a letter or two: `rdma/rdma_nics` beside a policy with `rdma_nic`.

[rdma-resource-unknown](rdma-resource-unknown.md) reports other names that no configuration offers, and names that a
configuration in another folder offers.

Write the name as in the configuration, or add it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import is_unknown, meant, offered
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.kubernetes.extended_resources import is_device
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
    names = (*container.limits, *container.requests)
    wanted = {name for name in names if is_device(name) and not is_accelerator(name)}
    if not wanted:
        return
    devices = offered(context.project)
    for name in sorted(wanted):
        known = meant(name, devices, container.at) if is_unknown(name, devices) else None
        if known is None:
            continue
        field = "limits" if name in container.limits else "requests"
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"no device plugin in these files offers {name}: the pod stays Pending",
            f"did you mean `{known}`?",
        )
