"""The training container does not request a device of the fabric, so NCCL falls back to TCP.

RDMA and EFA devices reach a pod only through a device plugin. A container that does not list the resource in its
limits sees no device in `/dev/infiniband`; NCCL finds no fast network, logs `NET/Socket` and continues on TCP over the
pod network, ten to a hundred times slower. Nothing fails, so the cause can take days to find. Each fabric profile
(`--profile`) lists the resources; a name that ends in `/` matches any resource with this prefix. The SR-IOV operator
lets a site choose any prefix, so a pod with networks may request another device instead, such as `nvidia.com/rail_0`.

Add the resource to the limits, with as many devices as the node has for the container's GPUs. The rule skips
containers with host network and privileged mode, which see the host's devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.fabric import accelerated_container
from trainyard.analysis.network.multus import attachments
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.facts.profiles import load_profile
from trainyard.model.run import Role


@rule(
    code="FB004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("charts/common/files/fabric: each profile names the provider's document it was taken from",),
    of_profile=True,
)
def fabric_resource_missing(role: Role, context: Context) -> Iterator[Problem]:
    """Report a resource of the profile that the container does not request."""
    container = accelerated_container(role)
    if context.profile is None or container is None or (container.privileged and role.pod.host_network):
        return
    if context.run is not None and context.run.nodes == 1:
        return
    fabric = load_profile(context.profile)
    asked = {*container.limits, *container.requests}
    has_function = bool(attachments(role.pod)) and any(is_device(name) and not is_accelerator(name) for name in asked)
    for resource in fabric.resources:
        # Libraries use huge pages where they are, and work without them.
        if resource.name.startswith("hugepages-"):
            continue
        is_prefix = resource.name[-1] == "/"
        if not (is_prefix and has_function) and not any(
            name == resource.name or (is_prefix and name.startswith(resource.name)) for name in asked
        ):
            yield Problem(
                container.at.child("resources", "limits").key(),
                f"{fabric.title} needs `{resource.name}`, which is not in the limits: {resource.why}",
                "add it to resources.limits with the number of devices for this container's GPUs",
            )
