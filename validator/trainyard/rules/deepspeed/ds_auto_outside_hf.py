"""DeepSpeed itself cannot resolve `auto`; only Hugging Face's Trainer and Accelerate replace it.

Trainer and Accelerate replace `"auto"` with values of their own arguments before DeepSpeed sees the configuration.
Nothing replaces it in a script that passes the file with `--deepspeed_config`. In a section, DeepSpeed drops the field
and uses its default, so `"enabled": "auto"` leaves fp16 off. At the top level, DeepSpeed compares the string with
numbers, which ends the run.

The rule applies where the job's command passes the file with `--deepspeed_config` and uses neither Accelerate nor
`--deepspeed FILE`. A script may still replace the strings itself, so the rule is off by default.

Write the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import SECTIONS
from trainyard.loaders.manifests.deepspeed import loads_itself
from trainyard.model.run import DeepSpeed

# DeepSpeed nests no section deeper than this.
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
    """Report `auto` in a file that DeepSpeed reads without Trainer or Accelerate."""
    if context.run is not None and loads_itself(context.run):
        for place in _autos(deepspeed.config, deepspeed.at, 0):
            dropped = ".".join(str(key) for key in place.path[:-1]) in SECTIONS
            effect = "DeepSpeed uses the default" if dropped else "DeepSpeed cannot use it"
            yield Problem(place, f"nothing replaces `auto` of {place.path[-1]} here: {effect}", "write the value")


def _autos(tree: Any, at: Place, depth: int) -> Iterator[Place]:
    if tree == "auto":
        yield at
    elif isinstance(tree, dict) and depth < DEPTH:
        for key, value in tree.items():
            yield from _autos(value, at.child(key), depth + 1)
