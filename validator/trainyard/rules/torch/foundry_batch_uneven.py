"""The batch of LLM Foundry cannot be split evenly over the ranks, so training stops at start-up.

`global_train_batch_size` counts the samples of all ranks. LLM Foundry refuses a number that is no multiple of them:
"Global batch size is not divisible by the world size". It does not drop samples.

The rule reads the file behind `composer` if a ConfigMap holds it. It leaves out tensor parallelism (`tp_config`), and
commands that set the number of processes.

Write a multiple of the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.framework_settings import foundry_settings
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD092",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "mosaicml/llm-foundry v0.5.0 and v0.15.1 llmfoundry/utils/config_utils.py: calculate_batch_size_info",
        "github.com/mosaicml/examples pull 41",
    ),
    needs=("global_train_batch_size",),
)
def foundry_batch_uneven(container: Container, context: Context) -> Iterator[Problem]:
    """Report batches that the ranks cannot share evenly."""
    for settings in foundry_settings(container, context) if context.run is not None else ():
        for at, message, help_ in settings.refused(settings.program.always):
            yield Problem(at, f"{message}: {settings.program.name} stops at start-up", help_)
