"""DeepSpeed does not know this key: it rejects it in a section and ignores it at the top level.

The sections (`zero_optimization`, its offload sections, `fp16`, `bf16`, the monitors and others) are pydantic models
that forbid extra fields: one misspelt key ends every process with a validation error. The top level is not checked, so
a misspelt `gradient_cliping` silently leaves gradient clipping off.

The known keys are those of several releases from 0.10 to 0.19.8 together, so neither an old nor a new field is
reported. At the top level the rule reports only names close to a known one and keys of `zero_optimization`, because
other tools keep their own keys there. In sections such as `autotuning`, it reports names close to a known one. Up to
0.16 the sections `fp16` and `bf16` also ignored unknown keys.

Write the name as DeepSpeed spells it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place, Rename
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.deepspeed import LOOSE_SECTIONS, SECTIONS, TOP_LEVEL
from trainyard.model.run import DeepSpeed

ZERO = "zero_optimization"
# Names that are found in the field, and too different for a guess. Source: deepspeedai/DeepSpeed pull 1103.
MISNAMED = {"micro_batch_per_gpu": "train_micro_batch_size_per_gpu"}

# Sections of which releases up to 0.16 read single keys.
_ONCE_LOOSE = ("fp16", "bf16")


@rule(
    code="DS007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        'deepspeedai/DeepSpeed 0.19.6 runtime/config_utils.py: DeepSpeedConfigModel.model_config, extra="forbid"',
        "deepspeedai/DeepSpeed 0.19.6 runtime/config_utils.py: get_scalar_param reads single keys of the top level",
    ),
    fix="unsafe",
)
def ds_unknown_key(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report keys that no release of DeepSpeed reads."""
    for section, known in SECTIONS.items():
        path = section.split(".")
        for key in mapping(deepspeed.config, *path):
            if key not in known:
                refusing = "DeepSpeed from 0.17 on" if section in _ONCE_LOOSE else "DeepSpeed"
                message = f"unknown key `{key}` in {section}: {refusing} rejects the configuration"
                yield _problem(deepspeed.at.child(*path, key), key, known, message)
    for section, known in LOOSE_SECTIONS.items():
        for key in mapping(deepspeed.config, section):
            if key not in known and _closest(key, known):
                message = f"unknown key `{key}` in {section}: DeepSpeed ignores it"
                yield _problem(deepspeed.at.child(section, key), key, known, message)
    for key in deepspeed.config:
        if key not in TOP_LEVEL and key in SECTIONS[ZERO]:
            message = f"`{key}` is a key of {ZERO}: at the top level it has no effect"
            yield Problem(deepspeed.at.child(key).key(), message, f"move it into {ZERO}")
        elif key not in TOP_LEVEL and _closest(key, TOP_LEVEL):
            yield _problem(deepspeed.at.child(key), key, TOP_LEVEL, f"unknown key `{key}`: DeepSpeed ignores it")


def _problem(at: Place, key: str, known: tuple[str, ...], message: str) -> Problem:
    closest = _closest(key, known)
    if closest is None:
        return Problem(at.key(), message, "remove it, or write one of the section's keys")
    return Problem(at.key(), message, f"write `{closest}`", (Rename(at, closest),))


def _closest(key: str, known: tuple[str, ...]) -> str | None:
    return MISNAMED.get(key) or closest_match(key, known, 0.84)
