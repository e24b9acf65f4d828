"""The accelerate configuration names a DeepSpeed file and repeats settings of it, so accelerate stops at start-up.

With `deepspeed_config_file`, DeepSpeed reads everything from that file. accelerate refuses settings beside it that it
would have to ignore: `zero_stage`, `gradient_accumulation_steps`, `gradient_clipping`, the offload devices and paths,
and `zero3_save_16bit_model`. The error begins with "When using
`deepspeed_config_file`, the following accelerate config variables will be ignored".

Remove these settings, and write them into the DeepSpeed file.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs
from trainyard.document.document import Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

IGNORED = (
    "gradient_accumulation_steps", "gradient_clipping", "zero_stage", "offload_optimizer_device",
    "offload_param_device", "offload_param_nvme_path", "offload_optimizer_nvme_path", "zero3_save_16bit_model",
)  # fmt: skip


@rule(
    code="DS016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/dataclasses.py: DeepSpeedPlugin._deepspeed_config_checks",
        "github.com/huggingface/accelerate pull request 941",
    ),
    fix="unsafe",
    needs=("deepspeed_config_file",),
)
def accelerate_deepspeed_file_conflict(project: Project) -> Iterator[Problem]:
    """Settings beside the DeepSpeed file."""
    for config in accelerate_configs(project):
        section = mapping(config.tree, "deepspeed_config")
        file = section.get("deepspeed_config_file")
        if config.tree.get("distributed_type") != "DEEPSPEED" or not isinstance(file, str) or file in ("", "none"):
            continue
        for name in IGNORED:
            if name in section:
                at = config.at.child("deepspeed_config", name)
                yield Problem(
                    at.key(),
                    f"accelerate refuses `{name}` beside `deepspeed_config_file`",
                    f"remove it, and set it in {file}",
                    (Remove(at),),
                )
