"""Hugging Face's Trainer refuses an argument because of accelerate's file, so every process stops at start-up.

`--save_only_model` saves whole weights, and FSDP with `fsdp_state_dict_type: SHARDED_STATE_DICT` has none: current
releases stop, and those before 4.50 fail at the first save. `--gradient_checkpointing` and
`fsdp_activation_checkpointing` exclude each other. `--auto_find_batch_size` excludes ZeRO stage 3 since 4.39.
`--load_best_model_at_end` excludes `--save_only_model` with FSDP and DeepSpeed.

The rule compares the file that `accelerate launch` reads with the arguments of the script in the same command.

Change one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import AccelerateConfig, accelerate_configs, scripts
from trainyard.analysis.launchers.trainer_flags import flag_on, with_underscores
from trainyard.analysis.scripts.pins import installs_before
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.hugging_face import BATCH_SEARCH_CHECKED
from trainyard.model.run import Command, Project, Run

_SAVE_ONLY, _BEST, _SEARCH = "--save-only-model", "--load-best-model-at-end", "--auto-find-batch-size"
# A section, a key and its value in lower case, the switch that it excludes, and what to do.
_REFUSED = (
    ("fsdp_config", "fsdp_state_dict_type", "sharded_state_dict", _SAVE_ONLY, "write FULL_STATE_DICT, or remove"),
    ("fsdp_config", "fsdp_activation_checkpointing", "true", "--gradient-checkpointing", "remove"),
    ("fsdp_config", "fsdp_activation_checkpointing", "true", "--activation-checkpointing", "remove"),
    ("deepspeed_config", "zero_stage", "3", _SEARCH, "use another stage, or remove"),
)


@rule(
    code="TD075",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 trainer.py: save_only_model option is not compatible with 'SHARDED_STATE_DICT'",
        "transformers 5.23.0 trainer.py: activation_checkpointing and gradient_checkpointing, auto_find_batch_size",
        "github.com/huggingface/transformers issue 36626 and pull 36627",
    ),
    needs=("distributed_type",),
)
def accelerate_trainer_refused(project: Project) -> Iterator[Problem]:
    """Report arguments that the Trainer refuses with this file."""
    for config in accelerate_configs(project):
        for run, launch, script in scripts(config, project):
            yield from _of(config, run, launch, script)


def _of(config: AccelerateConfig, run: Run, launch: Command, script: Command) -> Iterator[Problem]:
    kind = text(config.tree, "distributed_type")
    is_early = installs_before(run.containers, "transformers", BATCH_SEARCH_CHECKED)
    for section, key, value, switch, help_ in _REFUSED:
        if is_early and switch == _SEARCH:
            continue
        written, at = mapping(config.tree, section).get(key), flag_on(script, switch)
        # An option of accelerate has precedence over the file.
        is_used = section.startswith(kind.lower()) and kind and not launch.has(f"--{key.replace('_', '-')}")
        if is_used and at is not None and str(written).lower() == value:
            yield _refused(at, config.at.child(section, key), f"`{key}: {written}`", switch, help_)
    at = flag_on(script, _BEST)
    if kind in ("FSDP", "DEEPSPEED") and at is not None and flag_on(script, _SAVE_ONLY) is not None:
        yield _refused(
            at, config.at.child("distributed_type"), f"{with_underscores(_SAVE_ONLY)} and {kind}", _BEST, "remove"
        )


def _refused(at: Place, of: Place, what: str, switch: str, help_: str) -> Problem:
    message = f"the Trainer refuses {with_underscores(switch)} with {what}: every process stops"
    return Problem(at, message, f"{help_} {with_underscores(switch)}", related=((of, "accelerate's file"),))
