"""Settings of a training framework contradict each other, so it stops at start-up.

Frameworks check their settings before they train. axolotl refuses `deepspeed` with `fsdp`, `save_steps` with
`saves_per_epoch`, and `sample_packing` with `rl`. LLaMA-Factory refuses quantized weights with ZeRO stage 3, options of
LoRA in a full training, and `streaming` without `max_steps`. verl and EasyR1 divide batches by GPUs and by smaller
batches, and a rest is an error. NeMo RL needs `gpus_per_node` for generation on GPUs of its own, and sequence packing
for context parallelism. OpenRLHF compares the GPUs of colocated models.

The rule reads files of axolotl and LLaMA-Factory in ConfigMaps and beside the manifests, overrides of verl, EasyR1 and
NeMo RL (`name=value`) in commands and entrypoints of RayJobs, and options of OpenRLHF and LLaMA-Factory. It knows the
checks of several releases, and leaves out those that only some have.

Write what the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.framework_settings import SIGNS, framework_settings
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="TD090",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/refused_settings.py: the source of each framework",
        "github.com/axolotl-ai-cloud/axolotl pulls 1388 and 1210",
        "github.com/verl-project/verl pulls 153 and 833, github.com/hiyouga/EasyR1 issue 44",
        "github.com/NVIDIA-NeMo/RL pulls 729 and 1273",
    ),
    needs=SIGNS,
)
def framework_settings_refused(project: Project) -> Iterator[Problem]:
    """Report settings that their framework refuses."""
    for settings in framework_settings(project):
        for at, message, help_ in settings.refused(settings.program.always):
            yield Problem(at, f"{message}: {settings.program.name} stops at start-up", help_)
