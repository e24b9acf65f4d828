"""Partial optimizer offload exists in ZeRO stage 3 alone: in another stage DeepSpeed stops at start-up.

`offload_optimizer.ratio` says what part of the optimizer's state goes to the CPU. A value below 1.0 makes DeepSpeed's
configuration assert that the stage is 3; in stages 0, 1 and 2 every process ends with "Partial offloading only
supported for ZeRO Stage 3" before the first step.

A ratio of 1.0, the default, offloads everything and is allowed in each stage. A stage of `auto` is left alone.
Releases
as old as 0.10 refuse `ratio` itself.

Raise `stage` to 3, or leave `ratio` out.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.deepspeed import stage
from validator.fields import mapping
from validator.model import DeepSpeed
from validator.rule import Problem, rule


@rule(
    code="DS005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/zero/config.py: DeepSpeedZeroConfig.offload_ratio_check",),
)
def ds_offload_ratio_stage(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """A partial offload outside stage 3."""
    ratio = mapping(deepspeed.config, "zero_optimization", "offload_optimizer").get("ratio")
    current = stage(deepspeed.config)
    if isinstance(ratio, int | float) and not isinstance(ratio, bool) and ratio < 1 and current in (0, 1, 2):
        yield Problem(
            deepspeed.at.child("zero_optimization", "offload_optimizer", "ratio"),
            f"ratio {ratio} offloads a part, which only ZeRO stage 3 can: DeepSpeed stops in stage {current}",
            "write stage 3, or leave ratio out",
            related=((deepspeed.at.child("zero_optimization", "stage"), "the stage"),),
        )
