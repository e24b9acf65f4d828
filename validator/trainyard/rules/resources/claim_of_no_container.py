"""The pod has a claim for a GPU that none of its containers names, so no container gets the device.

Dynamic Resource Allocation allocates a device for each entry of `resourceClaims` of the pod. A container gets it
through `resources.claims` alone. Without an entry there, the pod takes the GPU from the node, and its program finds
no device.

The rule looks at claims of GPUs whose ResourceClaim or ResourceClaimTemplate is in the files. Drivers of networks
give their devices to the whole pod, so their claims need no container.

Name the claim under `resources.claims` of the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_claims import is_gpu_claim
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod


@rule(
    code="RS024",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation: resources.claims of a container",
        "kubernetes v1.37.2 pkg/apis/core/types.go: PodSpec.ResourceClaims, ResourceRequirements.Claims",
        "github.com/ai-dynamo/dynamo pull 11894",
    ),
    needs=("ResourceClaim",),
)
def claim_of_no_container(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report claims of GPUs that no container names."""
    named = {
        text(claim, "name")
        for container in (*pod.containers, *pod.init_containers)
        for claim in items(container.tree, "resources", "claims")
    }
    space = context.run.namespace if context.run is not None else ""
    for index, claim in enumerate(items(pod.tree, "resourceClaims")):
        name = text(claim, "name")
        if name and name not in named and pod.containers and is_gpu_claim(claim, context.project, space):
            yield Problem(
                pod.at.child("resourceClaims", index, "name"),
                f"no container names the claim `{name}` under `resources.claims`: none gets its GPU",
                f"add `claims: [{{name: {name}}}]` to the `resources` of the container",
            )
