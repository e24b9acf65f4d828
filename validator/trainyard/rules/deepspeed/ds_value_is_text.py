"""A number or a boolean is written as text, which DeepSpeed or Trainer compares or tests as text.

`"false"` is a text that is not empty, and counts as true wherever the library tests it: with `"enabled": "false"` in
`fp16` and bf16 on, Trainer sees both. `"8"` does not equal the number 8 of the command, and DeepSpeed cannot multiply
it: the run stops with "mismatch TrainingArguments values: gradient_accumulation_steps=8 vs hf
gradient_accumulation_steps=8", or with a TypeError.

Remove the quotes. `"auto"` keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import DeepSpeed

BOOLEANS = {"true": True, "false": False}
SECTIONS = ("fp16", "bf16", "bfloat16")
COUNTS = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")


@rule(
    code="DS018",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/transformers 5.23.0 src/transformers/integrations/deepspeed.py: is_true, fill_match",
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: _set_batch_related_parameters, _batch_assertion",
        "github.com/hiyouga/LlamaFactory issues 1116 and 3493",
    ),
    fix="safe",
)
def ds_value_is_text(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Quoted numbers and booleans."""
    for name in SECTIONS:
        section = deepspeed.config.get(name)
        written = section.get("enabled") if isinstance(section, dict) else None
        if isinstance(written, str) and written.lower() in BOOLEANS:
            message = f"{name}.enabled is the string `{written}`, which counts as true"
            yield _problem(deepspeed.at.child(name, "enabled"), message, BOOLEANS[written.lower()])
    for name in COUNTS:
        written = deepspeed.config.get(name)
        number = decimal(written) if isinstance(written, str) else None
        if number is not None:
            message = f"{name} is the string `{written}` and not a number: the run stops at start-up"
            yield _problem(deepspeed.at.child(name), message, number)


def _problem(at: Place, message: str, value: Any) -> Problem:
    return Problem(at, message, "remove the quotes", (SetValue(at, value),))
