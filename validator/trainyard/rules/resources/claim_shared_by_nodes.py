"""The pods of a training run share one ResourceClaim of GPUs, so they can only run on one node, with the same GPUs.

Kubernetes allocates a ResourceClaim once. All pods that name it get the devices of this allocation, and GPUs are
devices of one node: the pods are placed there, or stay Pending if something keeps them apart. Ranks that share a GPU
end with `Duplicate GPU detected` of NCCL.

The rule looks at roles with several pods whose launcher waits for several nodes, and at ResourceClaims of GPUs in the
files.

Write a ResourceClaimTemplate, and name it in `resourceClaimTemplateName`: each pod then gets a claim of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import node_range, torchrun_commands
from trainyard.analysis.resources.device_claims import is_gpu_claim
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role, Run

_FIELD = "resourceClaimName"


@rule(
    code="RS072",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation: pods that share a ResourceClaim",
        "NVIDIA/nccl v2.30.7-1 src/init.cc: Duplicate GPU detected",
    ),
    needs=(_FIELD,),
)
def claim_shared_by_nodes(role: Role, context: Context) -> Iterator[Problem]:
    """Report claims of GPUs that the pods of several nodes share."""
    run = context.run
    if run is None or not role.trains or (role.replicas or 0) < 2 or not _trains_together(role, run):
        return
    for index, claim in enumerate(items(role.pod.tree, "resourceClaims")):
        name = text(claim, _FIELD)
        if name and is_gpu_claim(claim, context.project, run.namespace):
            yield Problem(
                role.pod.at.child("resourceClaims", index, _FIELD),
                f"{role.replicas} pods share the claim `{name}`, which is one set of GPUs on one node",
                "write a ResourceClaimTemplate, and name it in `resourceClaimTemplateName`",
            )


def _trains_together(role: Role, run: Run) -> bool:
    """True if a launcher of the pods waits for several nodes."""
    container = role.container
    for launch in torchrun_commands(container) if container is not None else ():
        expected = node_range(launch, container, run) if container is not None else None
        if expected is not None and expected[1] > 1 and not launch.has("--standalone"):
            return True
    return False
