"""The key is deprecated: DeepSpeed still accepts it, warns on every process, and will drop it.

`cpu_offload` and `cpu_offload_param` became the sections `offload_optimizer` and `offload_param`;
`stage3_gather_fp16_weights_on_model_save` became `stage3_gather_16bit_weights_on_model_save`; `zero_optimization:
true` became a section with `stage`. DeepSpeed converts them and logs a warning. A deprecated key next to its
replacement is an error: "Cannot provide deprecated parameter ... and replacing parameter ... together".

`cpu_offload_use_pin_memory` is not converted at all: `pin_memory` of the offload sections, on by default, replaces it.

Write the new key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Edit, Place, Remove, Rename, SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import DeepSpeed

SECTIONS = {"cpu_offload": "offload_optimizer", "cpu_offload_param": "offload_param"}
OLD_GATHER = "stage3_gather_fp16_weights_on_model_save"
NEW_GATHER = "stage3_gather_16bit_weights_on_model_save"


@rule(
    code="DS008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/config.py: fields of DeepSpeedZeroConfig marked deprecated, "
        "read_zero_config_deprecated",
        "deepspeedai/DeepSpeed 0.19.6 runtime/config_utils.py: DeepSpeedConfigModel._process_deprecated_field",
    ),
    fix="safe",
)
def ds_deprecated_key(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report keys of earlier releases."""
    raw = deepspeed.config.get("zero_optimization")
    at = deepspeed.at.child("zero_optimization")
    if isinstance(raw, bool):
        # The old form also read this size from the top level; a section must contain it.
        edits = () if "allgather_size" in deepspeed.config else (SetValue(at, {"stage": int(raw)}),)
        message = f"`zero_optimization: {str(raw).lower()}` is deprecated and means stage {int(raw)}"
        yield Problem(at, message, f'write {{"stage": {int(raw)}}}', edits)
    zero = mapping(raw)
    for old, new in SECTIONS.items():
        if old in zero:
            yield _problem(at, old, new, _section_edits(zero, at, old, new))
    if OLD_GATHER in zero:
        taken = NEW_GATHER in zero or NEW_GATHER.removeprefix("stage3_") in zero
        yield _problem(at, OLD_GATHER, NEW_GATHER, () if taken else (Rename(at.child(OLD_GATHER), NEW_GATHER),))
    if "cpu_offload_use_pin_memory" in zero:
        message = "`cpu_offload_use_pin_memory` is deprecated and has no effect"
        yield Problem(at.child("cpu_offload_use_pin_memory").key(), message, "write pin_memory in the offload section")


def _problem(at: Place, old: str, new: str, edits: tuple[Edit, ...]) -> Problem:
    return Problem(at.child(old).key(), f"`{old}` is deprecated", f"write `{new}`", edits)


def _section_edits(zero: dict[str, Any], at: Place, old: str, new: str) -> tuple[Edit, ...]:
    if new in zero:
        return ()
    if zero[old] is True:
        return Rename(at.child(old), new), SetValue(at.child(old), {"device": "cpu"})
    return (Remove(at.child(old)),) if zero[old] is False else ()
