"""ZeRO is on with an optimizer that compresses its messages, so DeepSpeed stops every process at start-up.

`OneBitAdam`, `ZeroOneAdam` and `OneBitLamb` keep whole gradients on each rank, and exchange a compressed form of
them. ZeRO splits the states or the gradients, from its stage 1 on. DeepSpeed asserts that both are not used together,
for example with "1bit-Adam is not compatible with ZeRO".

Set the stage to 0, or take another optimizer, such as AdamW.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import DeepSpeed

_NAMES = frozenset(("onebitadam", "zerooneadam", "onebitlamb"))


@rule(
    code="DS035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "deepspeedai/DeepSpeed edaa7221 deepspeed/runtime/engine.py lines 2152-2166: _configure_basic_optimizer",
        "github.com/deepspeedai/DeepSpeed issues 1197 and 5046",
    ),
)
def ds_one_bit_with_zero(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report compressed optimizers beside ZeRO."""
    name = text(deepspeed.config, "optimizer", "type")
    stage = integer(mapping(deepspeed.config, "zero_optimization"), "stage")
    if name.lower() in _NAMES and stage is not None and stage > 0:
        yield Problem(
            deepspeed.at.child("optimizer", "type"),
            f"{name} does not work with ZeRO, which is on with stage {stage}: every process stops",
            "set the stage to 0, or write `AdamW`",
            related=((deepspeed.at.child("zero_optimization", "stage"), "ZeRO"),),
        )
