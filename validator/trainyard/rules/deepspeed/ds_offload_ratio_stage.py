"""Partial optimizer offload needs ZeRO stage 3: in any other stage DeepSpeed stops at start-up.

`offload_optimizer.ratio` is the fraction of the optimizer state that goes to the CPU. With a value below 1.0,
DeepSpeed asserts that the stage is 3; in stages 0, 1 and 2 every process ends with "Partial offloading only supported
for ZeRO Stage 3" before the first step.

With the device `nvme`, a ratio below 1.0 stops at "expected input to be on cuda": the part that stays on the GPU has no
optimizer of its own.

A ratio of 1.0, the default, offloads everything and is allowed in every stage. The rule skips a stage of `auto`.
Releases as old as 0.10 reject `ratio` itself.

Raise `stage` to 3, write the device `cpu`, or remove `ratio`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed


@rule(
    code="DS005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/config.py: DeepSpeedZeroConfig.offload_ratio_check",
        "github.com/deepspeedai/DeepSpeed issues 4872, 5508: nvme",
    ),
)
def ds_offload_ratio_stage(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report partial offload outside stage 3, and to NVMe."""
    offload = mapping(deepspeed.config, "zero_optimization", "offload_optimizer")
    ratio, current = offload.get("ratio"), stage(deepspeed.config)
    if not isinstance(ratio, int | float) or isinstance(ratio, bool) or ratio >= 1:
        return
    at = deepspeed.at.child("zero_optimization", "offload_optimizer")
    if current in (0, 1, 2):
        yield Problem(
            at.child("ratio"),
            f"ratio {ratio} needs ZeRO stage 3: DeepSpeed stops at start-up in stage {current}",
            "write stage 3, or remove ratio",
            related=((deepspeed.at.child("zero_optimization", "stage"), "the stage"),),
        )
    elif offload.get("device") == "nvme":
        yield Problem(
            at.child("ratio"),
            f"ratio {ratio} needs the device cpu: with nvme, the optimizer of the part on the GPU fails",
            "write the device cpu, or remove ratio",
            related=((at.child("device"), "the device"),),
        )
