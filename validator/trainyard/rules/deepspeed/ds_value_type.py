"""The value has a type that DeepSpeed does not take there, so every process stops.

DeepSpeed checks its sections with pydantic. A bucket size is an integer: 5e8 is one, 943718.4 is not. A section is an
object: `"offload_optimizer": true` is refused with "Input should be a valid dictionary". A stage is a number from 0 to
3, and a device one of `none`, `cpu` and `nvme`. All of this stops at start-up. `gradient_clipping` is compared with 0
at the first step, which fails for a text, even for `"1.0"`.

The rule leaves out `"auto"`, which Hugging Face's Trainer and Accelerate replace, null, names that a script replaces
(`ZERO_STAGE`), and a list of stages for the autotuner.

Write a value of the type that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.deepspeed_types import COMPARED, INTEGERS, OBJECTS, WORDS
from trainyard.model.run import DeepSpeed
from trainyard.startup import pattern

_NAME = pattern(r"[A-Z]+(?:_[A-Z0-9]+)+")


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
    for section in sorted({*INTEGERS, *OBJECTS, *WORDS}):
        path = section.split(".") if section else []
        tree, at = mapping(deepspeed.config, *path), deepspeed.at.child(*path)
        for name, value in tree.items():
            if section == "" and name in COMPARED and isinstance(value, str) and value != "auto":
                message = f"{name} is the text `{value}`, which DeepSpeed compares with 0: it stops at the first step"
                yield Problem(at.child(name), message, "write a number without quotes")
            # The autotuner tries every stage of a list: autotuning/autotuner.py, `user_zero_stages`.
            tuned = name == "stage" and isinstance(value, list) and "autotuning" in deepspeed.config
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
    if name in INTEGERS.get(section, ()) and not _is_integer(value):
        return "an integer"
    if name in OBJECTS.get(section, ()) and not isinstance(value, dict):
        return "an object"
    known = WORDS.get(section, {}).get(name)
    if known is not None and (isinstance(value, dict | list) or str(value) not in map(str, known)):
        return "one of " + ", ".join(map(str, known))
    return ""


def _is_left_open(value: Any) -> bool:
    """True for a name in capitals, such as `ZERO_STAGE`: a script writes the value in its place."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    # pydantic reads numbers from strings.
    return isinstance(value, int) or (isinstance(value, str) and value.strip().lstrip("+-").isdigit())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{value}`"
