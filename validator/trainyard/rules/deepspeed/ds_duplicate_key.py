"""DeepSpeed rejects a configuration with a duplicate key; other readers silently keep the last value.

DeepSpeed loads the file with a hook that raises "Duplicate keys in DeepSpeed config" for any mapping with a duplicate.
If Hugging Face's Trainer or Accelerate loads the file instead, it is read as plain JSON: the last value wins, which is
seldom the one that a reader sees first.

The usual cause is a section pasted from an example into a file that already has it.

Remove one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import DeepSpeed


@rule(
    code="DS009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/config_utils.py: dict_raise_error_on_duplicate_keys",
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig loads with object_pairs_hook",
    ),
)
def ds_duplicate_key(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report a key that occurs twice in one mapping."""
    for place in deepspeed.at.document.repeated:
        yield Problem(
            place,
            f"duplicate key `{place.path[-1]}`: DeepSpeed rejects the file, and other JSON readers keep the last one",
            "remove one of the two",
        )
