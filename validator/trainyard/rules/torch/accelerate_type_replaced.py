"""The type that `accelerate launch` works with is not the one of the file's sections, so the model is not sharded.

`--multi_gpu` chooses plain data parallelism, also if the file says `distributed_type: FSDP` or `DEEPSPEED`: each GPU
then holds the whole model, and large ones run out of memory. `--use_fsdp` and `--use_deepspeed` replace the type in the
same way.

A file with `distributed_type: MULTI_GPU` and a filled `fsdp_config` or `deepspeed_config` chooses plain data
parallelism as well: accelerate reads a section for the type that it belongs to.

Remove the option if the file has the type already. Write `distributed_type: FSDP` or `DEEPSPEED` for the section, or
remove the section.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import AccelerateConfig, accelerate_configs, launches
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_TYPES = {"--multi-gpu": "MULTI_GPU", "--use-fsdp": "FSDP", "--use-deepspeed": "DEEPSPEED"}
_EFFECTS = {
    "MULTI_GPU": "each GPU holds the whole model",
    "FSDP": "FSDP shards the model instead",
    "DEEPSPEED": "DeepSpeed shards the model instead",
}
# The section of each type. An option of the command may choose the type, or give the keys of one.
_SECTIONS = {"fsdp_config": "FSDP", "deepspeed_config": "DEEPSPEED"}
_LOCAL = ("", "LOCAL_MACHINE")
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
        if wanted == "MULTI_GPU":
            yield from _unread(config, project)
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


def _unread(config: AccelerateConfig, project: Project) -> Iterator[Problem]:
    """Yields the sections of a file that its type leaves out."""
    filled = [name for name in _SECTIONS if mapping(config.tree, name)]
    chosen = {word.replace("_", "-") for _, launch in launches(config, project) for word in launch.words}
    if len(filled) != 1 or not chosen.isdisjoint(_TYPES) or text(config.tree, "compute_environment") not in _LOCAL:
        return
    yield Problem(
        config.at.child(filled[0]).key(),
        f"accelerate does not read `{filled[0]}` with the type MULTI_GPU: {_EFFECTS['MULTI_GPU']}",
        f"write `distributed_type: {_SECTIONS[filled[0]]}`, or remove the section",
        related=((config.at.child("distributed_type"), "the type of the file"),),
    )
