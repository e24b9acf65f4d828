"""Settings of a training framework contradict each other in some of its releases.

DeepSpeed up to 0.19.0 has tensor parallelism (`autotp_size`) with the stages 0 to 2 of ZeRO only: with stage 3, it
stops in an assertion. verl passes `max_num_batched_tokens` to vLLM, which refuses a number below the length of a
sequence if chunked prefill is off; later releases of verl raise it. axolotl 0.5 to 0.12 refuses `torch_compile` beside
`deepspeed`.

The rule does not know the release in the image.

Write what the message names, or use a later release.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.framework_settings import framework_settings
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="TD091",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/refused_settings.py: the source of each framework",
        "github.com/deepspeedai/DeepSpeed issue 7389, github.com/axolotl-ai-cloud/axolotl issue 2544",
        "github.com/verl-project/verl pulls 259 and 7632",
    ),
    needs=("autotp_size", "verl.trainer", "verl/trainer", "base_model"),
)
def framework_settings_of_releases(project: Project) -> Iterator[Problem]:
    """Report settings that some releases of their framework refuse."""
    for settings in framework_settings(project):
        for at, message, help_ in settings.refused(settings.program.in_some):
            yield Problem(at, message, help_)
