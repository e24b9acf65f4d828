"""The configuration enables both fp16 and bf16, so every process stops at start-up.

The two sections choose the type of weights and gradients, and an assertion in DeepSpeed allows only one of them. The
usual cause is a file written for one GPU generation and edited for the next: `bf16` was added and `fp16` stayed on.
The old name `bfloat16` counts as `bf16`.

The rule skips sections with `"enabled": false` or `"auto"`.

Keep bf16 on Ampere and newer GPUs, where it needs no loss scaling, and set `"enabled": false` in the other section.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import enabled
from trainyard.model.run import DeepSpeed


@rule(
    code="DS003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._initialize_params",),
    fix="unsafe",
)
def ds_fp16_and_bf16(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report a configuration with both half-precision types enabled."""
    config = deepspeed.config
    other = "bf16" if "bf16" in config else "bfloat16"
    if enabled(config, "fp16") and enabled(config, other):
        at = deepspeed.at.child("fp16", "enabled")
        yield Problem(
            at,
            f"fp16 and {other} are both enabled: DeepSpeed stops at start-up",
            "disable one of them: bf16 is the better one on Ampere and newer GPUs",
            (SetValue(at, False),),
            ((deepspeed.at.child(other, "enabled"), f"{other} is enabled here"),),
        )
