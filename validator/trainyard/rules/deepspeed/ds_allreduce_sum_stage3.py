"""ZeRO stage 3 can only average gradients, not sum them, so DeepSpeed stops at start-up.

`"gradient_allreduce_op": "sum"` skips the division by the number of processes. The stage 3 optimizer does not
implement it: DeepSpeed raises "gradient_allreduce_op='sum' is not supported with ZeRO stage 3". ZenFlow raises the
same error in any stage. The value is not case-sensitive. Releases that do not know the field ignore it and average.

Use stage 1 or 2, or keep the mean and scale the learning rate or the loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed


@rule(
    code="DS014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._do_error_check, gradient_allreduce_op",),
)
def ds_allreduce_sum_stage3(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report summed gradients in stage 3 or with ZenFlow, which support only the mean."""
    if text(deepspeed.config, "gradient_allreduce_op").lower() != "sum":
        return
    zenflow = bool(mapping(deepspeed.config, "zero_optimization", "zenflow"))
    if stage(deepspeed.config) == 3 or zenflow:
        where = "with ZenFlow" if zenflow else "in ZeRO stage 3"
        yield Problem(
            deepspeed.at.child("gradient_allreduce_op"),
            f"DeepSpeed cannot sum gradients {where} and stops at start-up",
            'write "mean", or use stage 1 or 2',
        )
