"""The value `auto` has a meaning to Hugging Face's Trainer and Accelerate alone; DeepSpeed itself cannot fill it in.

Trainer and Accelerate replace `"auto"` with values of their own arguments before DeepSpeed sees the configuration. A
script that hands the file to DeepSpeed with `--deepspeed_config` has nobody who does that: in the sections DeepSpeed
drops the field and takes its default, so that `"enabled": "auto"` leaves fp16 off, and at the top level the word is
compared with numbers, which ends the run.

Found where the job's command gives the file with `--deepspeed_config` and uses neither Accelerate nor `--deepspeed
FILE`. A script may still replace the words itself; the rule is therefore off by default.

Write the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.facts.deepspeed import SECTIONS
from validator.model import DeepSpeed
from validator.roads.deepspeeds import loads_itself
from validator.rule import Context, Problem, rule
from validator.source import Place

# No section of DeepSpeed's is nested deeper than this.
DEPTH = 4


@rule(
    code="DS012",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/config_utils.py: DeepSpeedConfigModel.__init__ drops values of auto",
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._batch_assertion",
    ),
)
def ds_auto_outside_hf(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """`auto` in a file that DeepSpeed reads on its own."""
    if context.run is not None and loads_itself(context.run):
        for place in _autos(deepspeed.config, deepspeed.at, 0):
            dropped = ".".join(str(key) for key in place.path[:-1]) in SECTIONS
            effect = "DeepSpeed takes the default" if dropped else "DeepSpeed cannot use it"
            yield Problem(place, f"nobody replaces `auto` of {place.path[-1]} here: {effect}", "write the value")


def _autos(tree: Any, at: Place, depth: int) -> Iterator[Place]:
    if tree == "auto":
        yield at
    elif isinstance(tree, dict) and depth < DEPTH:
        for key, value in tree.items():
            yield from _autos(value, at.child(key), depth + 1)
