"""A container asks for a device that no device plugin of the site offers, so its pod stays Pending.

What RDMA devices are called is the choice of each site: the shared device plugin puts the name from its configuration
under `rdma/`, the SR-IOV device plugin under a prefix that it is started with, and clouds have names of their own. A
manifest that comes from another cluster asks for the names of that one, and the scheduler reports `Insufficient ...`
for ever.

The rule compares RDMA devices, and whatever stands under a prefix that the site uses, with what the site offers:
`gpu.rdma` and `gpu.sriov`, the resources of `networks`, `fabric.resources`, those of the fabric's profile, and what
queues have quotas of. GPUs are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.devices import is_accelerator, is_rdma
from validator.facts.extended_resources import is_device, quantity_at
from validator.facts.profiles import DEVICES
from validator.model import Container
from validator.rule import Context, Problem, rule
from validator.spelling import closest


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
    """Devices that the site does not have."""
    site = context.site
    offered = (
        {name: at for name, at in site.resources.items() if is_device(name) and not is_accelerator(name)}
        if site is not None
        else {}
    )
    if site is None or not offered:
        return
    # What the profile of another site brings is that profile's fault, of which `site-fabric-differs` speaks.
    brought = DEVICES.get(context.profile or "", ()) if context.profile != site.profile else ()
    prefixes = {name.partition("/")[0] for name in offered}
    for name in sorted({*container.limits, *container.requests}):
        if name in offered or name in brought or not is_device(name) or is_accelerator(name):
            continue
        if not is_rdma(name) and name.partition("/")[0] not in prefixes:
            continue
        field = "limits" if name in container.limits else "requests"
        near = closest(name, offered, 0.6)
        listed = ", ".join(sorted(offered))
        yield Problem(
            quantity_at(context.run, context.role, container, field, name).key(),
            f"nothing at the site offers {name}: the pod stays Pending",
            f"did you mean `{near}`?" if near is not None else f"the site offers {listed}",
            related=((offered[near or min(offered)], f"the site offers {near or listed}"),),
        )
