"""DeepSpeed refuses a configuration in which a key stands twice; other readers keep the last one in silence.

DeepSpeed loads its file with a hook that raises "Duplicate keys in DeepSpeed config" for each mapping in it. Where
Hugging Face's Trainer or Accelerate loads the file instead, plain JSON rules hold and the value that is written last
wins, which is seldom the one that the reader of the file sees first.

It happens when a section is pasted from an example into a file that already has it.

Remove one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.model import DeepSpeed
from validator.rule import Problem, rule


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
    """The same key twice in one mapping."""
    for place in deepspeed.at.document.repeated:
        yield Problem(
            place,
            f"`{place.path[-1]}` stands twice: DeepSpeed refuses the file, and other JSON readers keep the last one",
            "remove one of the two",
        )
