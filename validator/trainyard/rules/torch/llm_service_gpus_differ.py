"""The parallel sizes of an LLMInferenceService do not fit the GPUs of its pod.

Without a `worker`, KServe starts one pod for each replica. vLLM needs a GPU of this pod for each part of the tensor
parallel size: with fewer, it stops, or waits for a placement group. `parallelism.pipeline` has no effect at all: no
configuration that comes with KServe passes it on, up to 0.20. GPUs that the pod has for it stay idle.

The rule leaves out services with `baseRefs`, or with a command of their own.

Request a GPU for each part of `tensor`, and raise `tensor` in place of `pipeline`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import decimal, integer, items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

GPU = "nvidia.com/gpu"
OWN = ("command", "args")


@rule(
    code="TD049",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kserve/kserve config/llmisvcconfig/config-llm-template.yaml",
        "github.com/kserve/kserve issue 4946, issue 6044",
    ),
    needs=("LLMInferenceService",),
)
def llm_service_gpus_differ(resource: Resource) -> Iterator[Problem]:
    """Report sizes that the pod has no GPUs for, or that KServe does not read."""
    if resource.kind != "LLMInferenceService" or items(resource.tree, "spec", "baseRefs"):
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    yield from _of_pods(spec, at)
    yield from _of_pods(mapping(spec, "prefill"), at.child("prefill"))


def _of_pods(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    containers = items(spec, "template", "containers")
    container = mapping(containers[0]) if len(containers) == 1 else {}
    if "worker" in spec or any(field in container for field in OWN):
        return
    sizes, place = mapping(spec, "parallelism"), at.child("parallelism")
    tensor, pipeline = integer(sizes, "tensor") or 1, integer(sizes, "pipeline") or 1
    written = mapping(container, "resources", "limits").get(GPU)
    gpus = decimal(str(written)) if written is not None else None
    if gpus and tensor > gpus:
        yield Problem(
            place.child("tensor"),
            f"tensor parallelism of {tensor} needs {tensor} GPUs in the pod, and it has {gpus}",
            f"request {tensor}, or lower `tensor`",
            related=((at.child("template", "containers", 0, "resources", "limits", GPU), "the GPUs"),),
        )
    elif pipeline > 1:
        yield Problem(
            place.child("pipeline"),
            f"KServe does not pass `pipeline` on to vLLM: the server uses {tensor} GPUs of the pod",
            "raise `tensor` instead",
        )
