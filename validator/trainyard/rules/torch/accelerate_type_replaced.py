"""An option of `accelerate launch` replaces the type of its file, so the model is not sharded.

`--multi_gpu` chooses plain data parallelism, also if the file says `distributed_type: FSDP` or `DEEPSPEED`: each GPU
then holds the whole model, and large ones run out of memory. `--use_fsdp` and `--use_deepspeed` replace the type in the
same way.

Remove the option: the file has the type already.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs, launches
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_TYPES = {"--multi-gpu": "MULTI_GPU", "--use-fsdp": "FSDP", "--use-deepspeed": "DEEPSPEED"}
_EFFECTS = {
    "MULTI_GPU": "each GPU holds the whole model",
    "FSDP": "FSDP shards the model instead",
    "DEEPSPEED": "DeepSpeed shards the model instead",
}
_SHARDED = ("FSDP", "DEEPSPEED", "MEGATRON_LM")


@rule(
    code="TD042",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/commands/launch.py: _validate_launch_command",
        "github.com/foundation-model-stack/fms-hf-tuning pull 98",
    ),
    needs=("distributed_type",),
)
def accelerate_type_replaced(project: Project) -> Iterator[Problem]:
    """Report options that replace the type of the file of the same command."""
    for config in accelerate_configs(project):
        wanted = text(config.tree, "distributed_type")
        for _, launch in launches(config, project) if wanted in _SHARDED else ():
            for index, word in enumerate(launch.words):
                own = _TYPES.get(word.replace("_", "-"))
                if own is not None and own != wanted:
                    yield Problem(
                        launch.word_at[index],
                        f"`{word}` replaces the type {wanted} of `{config.name}`, so {_EFFECTS[own]}",
                        f"remove `{word}`: the file has the type",
                        related=((config.at.child("distributed_type"), "the type of the file"),),
                    )
