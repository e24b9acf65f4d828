"""The pod selects nodes with fewer GPUs than it requests, so none of them can hold it.

GPU feature discovery writes the number of GPUs of a node into `nvidia.com/gpu.count`. The containers of a pod do not
share GPUs: each gets its own, and the pod needs the sum. It stays Pending with "Insufficient nvidia.com/gpu".

The rule leaves out files that configure time-slicing or MPS: such a node offers each GPU several times.

Select nodes with enough GPUs, or request a GPU in one container alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import NODE_TERMS, required_expressions
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

LABEL = "nvidia.com/gpu.count"
RESOURCE = "nvidia.com/gpu"
# A selector or a configuration by which GPUs are shared.
SHARED = ("nvidia.com/gpu.replicas", "nvidia.com/gpu.sharing-strategy", "nvidia.com/device-plugin.config")


@rule(
    code="TP053",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/k8s-device-plugin docs/gpu-feature-discovery: nvidia.com/gpu.count",
        "github.com/NVIDIA/k8s-device-plugin issue 71: GPUs are assigned per container and are not shared",
    ),
    needs=(LABEL,),
)
def gpu_count_below_request(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report nodes that are too small for the GPUs of a pod."""
    need = int(sum(parse_quantity(one.quantity(RESOURCE)) or 0 for one in pod.containers))
    selected = str(pod.tree.get("nodeSelector")) + str(pod.tree.get("affinity"))
    if any(name in selected for name in SHARED) or _shares.of(context.project):
        return
    for most, at in _counts(pod):
        if most < need:
            plural = "s" * (most > 1)
            yield Problem(
                at,
                f"the containers request {need} {RESOURCE} together, and the nodes have {most} GPU{plural}: "
                "the pod stays Pending",
                "select nodes with enough GPUs, or request fewer: containers do not share them",
            )


def _counts(pod: Pod) -> Iterator[tuple[int, Place]]:
    """Yields the largest numbers of GPUs that nodes may have, with the places of the conditions."""
    told = mapping(pod.tree, "nodeSelector").get(LABEL)
    if told is not None and str(told).isdecimal():
        yield int(str(told)), pod.at.child("nodeSelector", LABEL)
    # A node needs to fit one of several terms.
    expressions = list(required_expressions(pod)) if len(items(pod.tree, *NODE_TERMS)) == 1 else []
    for expression, at in expressions:
        values = [str(value) for value in items(expression, "values")]
        told = text(expression, "key") == LABEL and text(expression, "operator") == "In"
        if told and values and all(value.isdecimal() for value in values):
            yield max(map(int, values)), at


def _find_sharing(project: Project) -> bool:
    """True if a ConfigMap of the files configures the device plugin to share GPUs."""
    return any(
        isinstance(value, str) and "sharing:" in value
        for resource in project.of_kind("ConfigMap")
        for value in mapping(resource.tree, "data").values()
    )


_shares: LastIndex[Project, bool] = LastIndex(_find_sharing)
