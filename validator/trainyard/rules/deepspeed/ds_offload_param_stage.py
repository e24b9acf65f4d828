"""Parameters are offloaded only in ZeRO stage 3: below it DeepSpeed passes over `offload_param` in silence.

Stages 1 and 2 keep a full copy of the parameters on every GPU, and the engine hands `offload_param` to the stage 3
optimizer alone. The section is accepted, nothing is logged, and the run dies with CUDA out of memory at the point
where the file's author counted on host memory. In the same way `offload_optimizer` has no effect in stage 0, where
there is no partitioned optimizer.

A device of `none` is left alone, and so is a stage of `auto`.

Raise `stage` to 3 if the parameters must leave the GPU; drop the section otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.deepspeed import stage
from validator.fields import text
from validator.model import DeepSpeed
from validator.rule import Problem, rule

# The lowest stage in which each section has an effect.
LOWEST = {"offload_param": 3, "offload_optimizer": 1}


@rule(
    code="DS004",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/engine.py: DeepSpeedEngine._configure_zero_optimizer uses "
        "zero_offload_param in the branch of ZeroStageEnum.weights alone",
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/config.py: DeepSpeedZeroConfig.offload_param, offload_optimizer",
    ),
)
def ds_offload_param_stage(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Offloading in a stage that does not know it."""
    current = stage(deepspeed.config)
    for section, lowest in LOWEST.items():
        device = text(deepspeed.config, "zero_optimization", section, "device")
        if current is not None and current < lowest and device in ("cpu", "nvme"):
            yield Problem(
                deepspeed.at.child("zero_optimization", section).key(),
                f"{section} has no effect in ZeRO stage {current}",
                f"write a stage of at least {lowest}, or leave {section} out",
                related=((deepspeed.at.child("zero_optimization", "stage"), "the stage"),),
            )
