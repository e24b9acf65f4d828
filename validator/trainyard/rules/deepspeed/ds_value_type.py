"""The value has a type that DeepSpeed does not take there, so every process stops.

DeepSpeed checks its sections with pydantic. A bucket size is an integer: 5e8 is one, 943718.4 is not. A switch is
`true` or `false`. A section is an object: `"offload_optimizer": true` is refused with "Input should be a valid
dictionary". A stage is a number from 0 to 3, and a device one of `none`, `cpu` and `nvme`. All of this stops at
start-up. Batch sizes are at least 1. `gradient_clipping` is compared with 0 at the first step, which fails for a text,
even for `"1.0"`.

The rule leaves out `"auto"`, which Hugging Face's Trainer and Accelerate replace, null, names that a script replaces
(`ZERO_STAGE`), and a list of stages for the autotuner.

Write a value of the type that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import BATCH_KEYS
from trainyard.facts.programs.deepspeed_types import (
    ANY_CASE,
    BOOLEANS,
    COMPARED,
    INTEGERS,
    NUMBERS,
    OBJECTS,
    POSITIVE,
    SHARES,
    TRUE_OR_FALSE,
    WORDS,
)
from trainyard.model.run import DeepSpeed
from trainyard.startup import pattern

_NAME = pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

# The autotuner tries every value of a list: autotuning/autotuner.py, `user_zero_stages`.
TUNED = ("stage", *BATCH_KEYS)
_SECTIONS = sorted({*INTEGERS, *NUMBERS, *BOOLEANS, *OBJECTS, *WORDS, *ANY_CASE})


@rule(
    code="DS024",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 1b88ac3 runtime/zero/config.py: DeepSpeedZeroConfig; zero/offload_config.py",
        "deepspeedai/DeepSpeed runtime/engine.py: _take_model_step compares gradient_clipping() with 0.0",
        "github.com/Lightning-AI/pytorch-lightning pull 17790, github.com/huggingface/accelerate pull 2814",
    ),
)
def ds_value_type(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Numbers, sections and words of another type."""
    for section in _SECTIONS:
        path = section.split(".") if section else []
        tree, at = mapping(deepspeed.config, *path), deepspeed.at.child(*path)
        for name, value in tree.items():
            if section == "" and name in COMPARED and isinstance(value, str) and value != "auto":
                message = f"{name} is the text `{value}`, which DeepSpeed compares with 0: it stops at the first step"
                yield Problem(at.child(name), message, "write a number without quotes")
            tuned = name in TUNED and isinstance(value, list) and "autotuning" in deepspeed.config
            # Templates have names of any form in place of batch sizes.
            tuned = tuned or (name in BATCH_KEYS and isinstance(value, str))
            wanted = "" if tuned or _is_left_open(value) else _wanted(section, str(name), value)
            if wanted:
                title = f"{section}.{name}" if section else name
                yield Problem(
                    at.child(name),
                    f"{title} is {_shown(value)}, and DeepSpeed takes {wanted}: it stops at start-up",
                    f"write {wanted}",
                )


def _wanted(section: str, name: str, value: Any) -> str:
    """Returns the type that the value should have; empty if it has it."""
    if value is None or value == "auto":
        return ""
    if name in INTEGERS.get(section, ()):
        least = 1 if name in POSITIVE else 0 if section.startswith("zero") else None
        return "" if _is_integer(value) and (least is None or int(float(value)) >= least) else _count(least)
    if name in NUMBERS.get(section, ()):
        number = _number(value)
        if number is None:
            return "a number"
        return "a number from 0 to 1" if name in SHARES and not 0 <= number <= 1 else ""
    if name in BOOLEANS.get(section, ()):
        return "" if value in (0, 1) or str(value).lower() in TRUE_OR_FALSE else "true or false"
    if name in OBJECTS.get(section, ()) and not isinstance(value, dict):
        return "an object"
    loose = ANY_CASE.get(section, {}).get(name)
    if loose is not None and str(value).lower() not in loose:
        return "one of " + ", ".join(loose)
    known = WORDS.get(section, {}).get(name)
    if known is not None and (isinstance(value, dict | list) or str(value) not in map(str, known)):
        return "one of " + ", ".join(map(str, known))
    return ""


def _is_left_open(value: Any) -> bool:
    """True for a name in capitals, such as `ZERO_STAGE`: a script writes the value in its place."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _count(least: int | None) -> str:
    return "an integer" if least is None else f"an integer of at least {least}"


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    # pydantic reads numbers from strings.
    return isinstance(value, int) or (isinstance(value, str) and value.strip().lstrip("+-").isdigit())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{value}`"
