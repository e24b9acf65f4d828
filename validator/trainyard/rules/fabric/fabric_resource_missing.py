"""The training container does not ask for the fabric's devices, so NCCL falls back to TCP over the pod network.

RDMA and EFA devices reach a pod only through a device plugin: a container that does not name the resource in its limits
sees no device in `/dev/infiniband`, NCCL finds no fast network, logs `NET/Socket` and continues on TCP, ten to a
hundred times slower. Nothing fails, which is why this costs days. Each fabric profile (`--profile`) names the
resources; a name that ends in `/` stands for any resource with this prefix.

Add the resource to the limits, with as many devices as the node has for the GPUs that the container takes. Containers
with host network and privileged mode see the host's devices and are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.fabric import accelerated
from validator.facts.profiles import profile
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="FB004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("validator/profiles: each profile names the provider's document it was taken from",),
    of_profile=True,
)
def fabric_resource_missing(role: Role, context: Context) -> Iterator[Problem]:
    """A resource of the profile that no limit names."""
    container = accelerated(role)
    if context.profile is None or container is None or (container.privileged and role.pod.host_network):
        return
    if role.replicas == 1 and context.run is not None and context.run.nodes == 1:
        return
    fabric = profile(context.profile)
    asked = {*container.limits, *container.requests}
    for resource in fabric.resources:
        if not any(
            name == resource.name or (resource.name[-1] == "/" and name.startswith(resource.name)) for name in asked
        ):
            yield Problem(
                container.at.child("resources", "limits").key(),
                f"no limit names `{resource.name}`, and {fabric.title} needs it: {resource.why}",
                "add it to resources.limits with the number of devices for this container's GPUs",
            )
