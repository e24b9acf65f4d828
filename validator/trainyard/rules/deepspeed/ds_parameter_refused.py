"""The optimizer or the scheduler of the DeepSpeed configuration does not take a parameter, so every process stops.

DeepSpeed calls the class of `scheduler.type` or `optimizer.type` with `params`. Python refuses a name that the class
does not have: `total_num_steps` is one of `WarmupDecayLR`, which needs it, and none of `WarmupLR`. The learning rate of
Adam is `lr`. Clipping is `gradient_clipping` at the top, and no `max_grad_norm`. A number in quotes cannot be compared
with other numbers, and `betas` is a list of two; only `"auto"` is replaced, by Hugging Face's Trainer and Accelerate.

The rule knows DeepSpeed's schedulers, Adam and AdamW. A program that brings its own optimizer, such as Megatron, does
not read `optimizer`, and its files often have `max_grad_norm`. It is reported where the Trainer reads the file: its
command names it, or a value is `"auto"`. A missing parameter is reported there too, and where a job uses the file:
other programs count the steps themselves.

Correct the name, or remove the quotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.scalars import unquoted_scalar
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.deepspeed_types import ADAM, PARAMETER_TEXTS, REQUIRED, SCHEDULERS
from trainyard.loaders.manifests.deepspeed import commands_of_trainer
from trainyard.model.run import DeepSpeed
from trainyard.startup import pattern

NORM = "max_grad_norm"
# YAML readers differ about exponents: for some of them, an unquoted 1e-8 is a text. In JSON it is a number.
_NUMBER = pattern(r"[+-]?\d+(\.\d*)?")
_PAIR = pattern(r"[\[(]?\s*[\d.]+\s*,\s*[\d.]+\s*[\])]?")
_WITH_EXPONENT = pattern(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@rule(
    code="DS028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.8 runtime/lr_schedules.py; engine.py: _scheduler_from_config",
        "deepspeedai/DeepSpeed 0.19.8 runtime/engine.py: _configure_optimizer, _configure_basic_optimizer; ops/adam",
        "pytorch 2.15.0 optim",
        "github.com/modelscope/ms-swift issue 1906",
    ),
)
def ds_parameter_refused(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report parameters of schedulers and of Adam that do not exist, are missing, or are text."""
    scheduler = mapping(deepspeed.config, "scheduler")
    name, params = scheduler.get("type"), scheduler.get("params", {})
    at = deepspeed.at.child("scheduler")
    if isinstance(name, str) and name in SCHEDULERS and isinstance(params, dict):
        yield from _unknown(name, params, SCHEDULERS[name], at.child("params"))
        missing = [one for one in REQUIRED.get(name, ()) if one not in params]
        if missing and (deepspeed.run is not None or _is_of_trainer(deepspeed, params)):
            place = at.child("params").key() if params else at.child("type")
            yield Problem(place, f"{name} lacks `{missing[0]}`: every process stops", f"add `{missing[0]}`")
    optimizer = mapping(deepspeed.config, "optimizer")
    name, params = optimizer.get("type"), optimizer.get("params", {})
    if isinstance(name, str) and name.lower() in ("adam", "adamw") and isinstance(params, dict):
        known = ADAM if _is_of_trainer(deepspeed, params) else (*ADAM, NORM)
        yield from _unknown(name, params, known, deepspeed.at.child("optimizer", "params"))


def _is_of_trainer(deepspeed: DeepSpeed, params: dict[str, Any]) -> bool:
    """True if Hugging Face's Trainer reads the file, and lets DeepSpeed make the optimizer."""
    named = deepspeed.run is not None and bool(commands_of_trainer(deepspeed.run))
    return named or "auto" in deepspeed.config.values() or "auto" in params.values()


def _unknown(name: str, params: dict[str, Any], known: tuple[str, ...], at: Place) -> Iterator[Problem]:
    for key, value in params.items():
        if key == NORM and key not in known:
            message = f"{name} of DeepSpeed takes no `max_grad_norm`: every process stops"
            yield Problem(at.child(key).key(), message, "write `gradient_clipping` at the top of the file")
        elif key not in known:
            near = _OTHERS.get(str(key)) or closest_match(str(key), known, 0.7)
            told = f"did you mean `{near}`?" if near in known else "remove it"
            yield Problem(at.child(key).key(), f"{name} takes no parameter `{key}`: every process stops", told)
        elif key == "betas":
            yield from _betas(name, value, at.child(key))
        elif isinstance(value, str) and key not in PARAMETER_TEXTS and _is_number(value, at.child(key)):
            message = f"`{key}` of {name} is the text `{value}` and not a number: every process stops"
            yield Problem(at.child(key), message, "remove the quotes")


def _betas(name: str, value: Any, at: Place) -> Iterator[Problem]:
    if isinstance(value, str) and _PAIR.fullmatch(value):
        yield Problem(at, f"`betas` of {name} is the text `{value}`: every process stops", "write `[0.9, 0.95]`")
    for index, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, str) and _is_number(one, at.child(index)):
            message = f"`betas` of {name} holds the text `{one}` and no number: every process stops"
            yield Problem(at.child(index), message, "remove the quotes")


def _is_number(value: str, at: Place) -> bool:
    """True for a number in quotes."""
    if _NUMBER.fullmatch(value):
        return True
    quoted = at.document.node is not None and unquoted_scalar(at) is None
    return quoted and _WITH_EXPONENT.fullmatch(value) is not None


_OTHERS = {"learning_rate": "lr", "epsilon": "eps", "num_warmup_steps": "warmup_num_steps", "beta1": "betas"}
