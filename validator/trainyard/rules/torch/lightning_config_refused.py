"""Lightning does not take an argument of its Trainer, so the program stops at start-up.

`strategy` is a name such as `ddp`, or one class with `class_path` and `init_args`; it is no list. `plugins` are
classes, and no names of strategies. `precision` has fixed words: `bf16-mixed`, and not `bfloat16`. `devices` is a
number, a list or `auto`. A DeepSpeed file of a `DeepSpeedStrategy` has no `gradient_accumulation_steps`: Lightning sets
it by `accumulate_grad_batches`. Lightning 2 removed `gpus`, `replace_sampler_ddp` and others: the rule reports them
beside something that only Lightning 2 has, such as `precision: 16-mixed`.

The rule looks at configurations of LightningCLI and Hydra, which have a section `trainer` with `accelerator`, or
`gpus`, and two further arguments. A key is reported if it resembles an argument.

Write what the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.launchers.lightning_config import LightningConfig, lightning_configs
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.lightning import (
    ARGUMENTS,
    CLIPPING,
    NEW_ARGUMENTS,
    NEW_PRECISIONS,
    PRECISIONS,
    REMOVED,
    STRATEGIES,
)
from trainyard.model.run import Project


@rule(
    code="TD044",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "Lightning 2.6.6 pytorch/trainer/connectors/accelerator_connector.py: _check_config_and_set_final_flags",
        "Lightning 2.6.6 pytorch/strategies/deepspeed.py: _format_batch_size_and_grad_accum_config",
        "github.com/Lightning-AI/pytorch-lightning issues 11902, 17254, 19128 and 19891",
    ),
    needs=("accelerator", "gpus"),
)
def lightning_config_refused(project: Project) -> Iterator[Problem]:
    """Report arguments that Lightning's Trainer refuses."""
    for config in lightning_configs(project):
        yield from _names(config)
        yield from _removed(config)
        yield from _strategy(config)
        yield from _plugins(config)
        yield from _words(config)


def _names(config: LightningConfig) -> Iterator[Problem]:
    for key in config.trainer:
        near = closest_match(str(key), sorted(ARGUMENTS), 0.85) if key not in ARGUMENTS else None
        if near is not None and near not in config.trainer:
            message = f"Lightning's Trainer has no argument `{key}`: the program stops"
            yield Problem(config.at.child(key).key(), message, f"did you mean `{near}`?")


def _removed(config: LightningConfig) -> Iterator[Problem]:
    trainer = config.trainer
    if not NEW_ARGUMENTS & trainer.keys() and trainer.get("precision") not in NEW_PRECISIONS:
        return
    for key in REMOVED:
        # The former default, null, is refused as well.
        if key in trainer:
            message = f"the Trainer of Lightning 2 has no argument `{key}` any more: the program stops"
            help_ = f"use `{REMOVED[key]}`" if REMOVED[key] else "remove it"
            yield Problem(config.at.child(key).key(), message, help_)


def _strategy(config: LightningConfig) -> Iterator[Problem]:
    strategy, at = config.trainer.get("strategy"), config.at.child("strategy")
    if isinstance(strategy, list):
        message = "`strategy` is a list, and Lightning takes one name or one class: the program stops"
        yield Problem(at, message, "write `class_path` without the dash in front of it")
    elif isinstance(strategy, str) and strategy.lower() not in STRATEGIES and not set(strategy) & set(".$<{"):
        near = closest_match(strategy.lower(), sorted(STRATEGIES), 0.8)
        if near is not None:
            yield Problem(at, f"Lightning has no strategy `{strategy}`: the program stops", f"did you mean `{near}`?")
    elif isinstance(strategy, dict) and text(strategy, "class_path").endswith("DeepSpeedStrategy"):
        yield from _deepspeed(config, text(mapping(strategy, "init_args"), "config").rpartition("/")[2])


def _deepspeed(config: LightningConfig, name: str) -> Iterator[Problem]:
    raw = mapping(config.holder.tree, "data").get(name) if config.holder is not None and name else None
    if config.holder is None or not isinstance(raw, str):
        return
    inner = embedded_mapping(config.holder.at.child("data", name), raw)
    key = "gradient_accumulation_steps"
    if inner is not None and key in inner.tree:
        message = f"Lightning sets `{key}` itself, and refuses a DeepSpeed file with it: the program stops"
        yield Problem(Place(inner).child(key).key(), message, "write `accumulate_grad_batches` in `trainer`")


def _plugins(config: LightningConfig) -> Iterator[Problem]:
    plugins = config.trainer.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else [plugins]:
        if isinstance(plugin, str) and plugin in STRATEGIES:
            message = f"Lightning 2 has no plugin `{plugin}`: it is the name of a strategy, and the program stops"
            yield Problem(config.at.child("plugins"), message, "name the strategy in `strategy`")


def _words(config: LightningConfig) -> Iterator[Problem]:
    for key, known in (("precision", PRECISIONS), ("gradient_clip_algorithm", CLIPPING)):
        value = config.trainer.get(key)
        if isinstance(value, int | str) and str(value) not in known and not set(str(value)) & set("$<{"):
            message = f"Lightning knows no `{key}` of `{value}`: the program stops"
            yield Problem(config.at.child(key), message, f"write one of {', '.join(known[:6])}")
    devices: Any = config.trainer.get("devices")
    if isinstance(devices, str) and devices.isalpha() and devices != "auto":
        message = f"Lightning takes no `devices` of `{devices}`: the program stops"
        yield Problem(config.at.child("devices"), message, "write the number of GPUs, or `auto`")
