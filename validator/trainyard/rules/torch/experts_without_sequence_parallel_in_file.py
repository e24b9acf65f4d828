"""A configuration splits experts and tensors over ranks without sequence parallelism, which Megatron Core refuses.

NeMo RL, NeMo, Megatron Bridge and verl pass `tensor_model_parallel_size`, `expert_model_parallel_size` and
`sequence_parallel` of their files to Megatron Core. If the first two are above 1 and the last is off, the layer of
experts stops the training: "During training, performance may degrade if MoE and tensor parallelism are enabled without
also enabling sequence parallelism".

The rule reads ConfigMaps. For options of a command there is TD072.

Write `sequence_parallel: true`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, mapping
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_TENSOR, _EXPERT, _SEQUENCE = "tensor_model_parallel_size", "expert_model_parallel_size", "sequence_parallel"
# Sections of such files are not deeper.
_DEPTH = 8


@rule(
    code="TD083",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/Megatron-LM core_v0.12.0, core_v0.14.0 and d98e8a64 megatron/core/transformer/moe/moe_layer.py: "
        "MoELayer.forward; core_v0.14.0 megatron/core/model_parallel_config.py line 390",
        "github.com/NVIDIA-NeMo/RL pull request 1487",
    ),
    needs=(_EXPERT,),
)
def experts_without_sequence_parallel_in_file(project: Project) -> Iterator[Problem]:
    """Report files with split experts and tensors, and whole sequences."""
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if not isinstance(raw, str) or not all(name in raw for name in (_TENSOR, _EXPERT, _SEQUENCE)):
                continue
            inner = embedded_mapping(resource.at.child("data", key), raw)
            if inner is not None:
                yield from _sections(inner.tree, Place(inner), _DEPTH)


def _sections(tree: dict[Any, Any], at: Place, depth: int) -> Iterator[Problem]:
    tensor, expert = integer(tree, _TENSOR), integer(tree, _EXPERT)
    if tensor is not None and expert is not None and min(tensor, expert) > 1 and tree.get(_SEQUENCE) is False:
        message = f"{_TENSOR} {tensor} and {_EXPERT} {expert} need {_SEQUENCE}: Megatron stops without it"
        yield Problem(at.child(_SEQUENCE), message, "write `true`")
    for key, value in tree.items() if depth else ():
        if isinstance(value, dict) and isinstance(key, str):
            yield from _sections(value, at.child(key), depth - 1)
