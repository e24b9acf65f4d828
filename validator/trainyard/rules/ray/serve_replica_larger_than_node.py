"""A replica of Ray Serve asks for more CPUs or GPUs than any node of the cluster has, so it is never placed.

Ray places a replica on one node. The sum over all nodes does not matter: with three pods of two CPUs each, a replica
with `num_cpus: 3` stays pending, and the application does not become healthy. KubeRay starts Ray with the limits of the
container, or with its requests, unless `rayStartParams` says `num-cpus` or `num-gpus`, or `resources` of the group
`CPU` or `GPU`.

The rule knows the options in `serveConfigV2`, and leaves out deployments with placement groups, and clusters with a
group whose size is not in the file.

Lower the demand of the replica, or raise the limits of a group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.jobs.ray import Group, groups_of
from trainyard.analysis.jobs.serve_config import applications
from trainyard.document.lookup import decimal, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource

# The option of a replica, the parameter of `ray start`, and the end of the names of the resources.
KINDS = (("num_cpus", "num-cpus", "cpu", "CPUs"), ("num_gpus", "num-gpus", "gpu", "GPUs"))
SLICES = "/mig-"


@rule(
    code="RY027",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.ray.io/en/latest/serve/resource-allocation.html: a replica is an actor, which one node holds",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: updateRayStartParamsResources, "
        "num-cpus and num-gpus of ray start",
        "github.com/ray-project/kuberay issue 1090",
    ),
    needs=("serveConfigV2",),
)
def serve_replica_larger_than_node(resource: Resource) -> Iterator[Problem]:
    """Report replicas that no node can hold."""
    groups = [group for group in groups_of(resource) if group.is_head or group.tree.get("maxReplicas") != 0]
    for option, parameter, name, title in KINDS:
        sizes = [_size(group, parameter, name) for group in groups]
        known = [size for size in sizes if size is not None]
        # Without a limit, the runtime of the nodes may still give GPUs to all containers.
        most = max(known, default=0)
        if not most or len(known) < len(sizes):
            continue
        for application, at in applications(resource):
            for index, deployment in enumerate(items(application, "deployments")):
                asked = mapping(deployment, "ray_actor_options").get(option)
                if not isinstance(asked, int | float) or "placement_group_bundles" in deployment:
                    continue
                if asked > most:
                    yield Problem(
                        at.child("deployments", index, "ray_actor_options", option),
                        f"each replica of `{text(deployment, 'name')}` asks for {asked:g} {title}, and no node of the "
                        f"cluster has more than {most:g}: Ray places none",
                        f"write {most:g} or less, or raise the limits of a group",
                    )


def _size(group: Group, parameter: str, name: str) -> float | None:
    """Returns the CPUs or GPUs of a node of a group; None if they are not known."""
    own = mapping(group.tree, "resources").get(name.upper())
    if own is not None:
        return parse_quantity(own)
    if parameter in group.start:
        return decimal(str(group.start[parameter]))
    limits = mapping(group.container, "resources", "limits")
    given = limits or mapping(group.container, "resources", "requests")
    if any(SLICES in str(key) for key in given):
        return None
    found = [parse_quantity(value) for key, value in given.items() if str(key).endswith(name)]
    amounts = [amount for amount in found if amount is not None]
    if len(amounts) < len(found) or (name == "cpu" and not found) or not group.container:
        return None
    return float(math.ceil(sum(amounts)))
