"""A container requests a device that no device plugin of the site offers, so its pod stays Pending.

Each site chooses the names of its RDMA devices: the shared device plugin puts the name from its configuration under
`rdma/`, the SR-IOV device plugin under a configured prefix, and clouds have names of their own. A manifest from another
cluster requests the names of that cluster, and the scheduler reports `Insufficient ...` forever.

The rule compares RDMA devices, and every resource under a prefix that the site uses, with the resources that the site
offers: `gpu.rdma` and `gpu.sriov`, the resources of `networks`, `fabric.resources`, those of the fabric profile, and
the resources with a quota in the queues. It ignores GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.hardware.devices import is_accelerator, is_rdma
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.facts.profiles import profile_devices
from trainyard.model.run import Container


@rule(
    code="SI003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/k8s-rdma-shared-dev-plugin README.md: resourceName, resourcePrefix",
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: resourcePrefix",
    ),
    of_site=True,
)
def site_resource_not_offered(container: Container, context: Context) -> Iterator[Problem]:
    """Devices that the site does not offer."""
    site = context.site
    offered = (
        {name: at for name, at in site.resources.items() if is_device(name) and not is_accelerator(name)}
        if site is not None
        else {}
    )
    if site is None or not offered:
        return
    # `site-fabric-differs` reports another profile, and with it the devices that this profile adds.
    brought = profile_devices(context.profile or "") if context.profile != site.profile else ()
    prefixes = {name.partition("/")[0] for name in offered}
    for name in sorted({*container.limits, *container.requests}):
        if name in offered or name in brought or not is_device(name) or is_accelerator(name):
            continue
        if not is_rdma(name) and name.partition("/")[0] not in prefixes:
            continue
        field = "limits" if name in container.limits else "requests"
        near = closest_match(name, offered, 0.6)
        names = format_list(sorted(offered))
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"the site does not offer {name}: the pod stays Pending",
            f"did you mean `{near}`?" if near is not None else f"the site offers {names}",
            related=((offered[near or min(offered)], f"the site offers {near or names}"),),
        )
