"""ZeRO stage 2 or 3 with pipeline parallelism stops the run: DeepSpeed's pipeline engine supports stage 1.

The pipeline engine accumulates gradients over micro batches. ZeRO from stage 2 on partitions gradients after each of
them, so an assertion refuses the combination: "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism".

The rule reads `pipeline.stages` in the configuration, and `--pipeline-model-parallel-size` or
`--pipeline-parallel-size` in the command of the run.

Use stage 1, or leave out the pipeline: stage 3 splits the parameters too.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal, integer, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed, Run

OPTIONS = ("--pipeline-model-parallel-size", "--pipeline-parallel-size", "--pipe-parallel-size")
# Megatron-DeepSpeed's option for the model without DeepSpeed's pipeline engine.
WITHOUT = "--no-pipeline-parallel"


@rule(
    code="DS019",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/pipe/engine.py: PipelineEngine.__init__",
        "github.com/deepspeedai/DeepSpeed issue 568",
    ),
)
def ds_pipeline_with_zero(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """A pipeline with partitioned gradients."""
    used = stage(deepspeed.config)
    if used is None or used < 2:
        return
    stages = integer(mapping(deepspeed.config, "pipeline"), "stages") or _told(context.run)
    if stages > 1:
        yield Problem(
            deepspeed.at.child("zero_optimization", "stage"),
            f"ZeRO stage {used} does not work with a pipeline of {stages} stages: DeepSpeed stops at start-up",
            "use stage 1, or no pipeline",
        )


def _told(run: Run | None) -> int:
    for command in run.commands if run is not None else ():
        if command.has(WITHOUT):
            continue
        size = decimal(command.option(*OPTIONS) or "")
        if size is not None:
            return size
    return 1
