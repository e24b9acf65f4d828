"""`offload_param` needs ZeRO stage 3: DeepSpeed silently ignores it in lower stages.

Stages 1 and 2 keep a full copy of the parameters on every GPU, and the engine passes `offload_param` to the stage 3
optimizer alone. DeepSpeed accepts the section and logs nothing, and the run fails with CUDA out of memory although the
configuration relies on host memory. Likewise, `offload_optimizer` has no effect in stage 0, which has no partitioned
optimizer.

The rule skips a device of `none` and a stage of `auto`.

Raise `stage` to 3 if the parameters must leave the GPU; otherwise remove the section.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed

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
    """Report offloading in a stage that does not support it."""
    current = stage(deepspeed.config)
    for section, lowest in LOWEST.items():
        device = text(deepspeed.config, "zero_optimization", section, "device")
        if current is not None and current < lowest and device in ("cpu", "nvme"):
            yield Problem(
                deepspeed.at.child("zero_optimization", section).key(),
                f"{section} has no effect in ZeRO stage {current}",
                f"write stage {lowest} or higher, or remove {section}",
                related=((deepspeed.at.child("zero_optimization", "stage"), "the stage"),),
            )
