"""Batch sizes are set although elastic training chooses the batch, so DeepSpeed stops at start-up.

With `elasticity.enabled`, DeepSpeed computes batch, micro batch and accumulation steps from `max_train_batch_size` and
`micro_batch_sizes`. It raises ElasticityConfigError when `train_batch_size`, `train_micro_batch_size_per_gpu` or
`gradient_accumulation_steps` is present, whatever its value, so that nobody relies on a size that is overridden.
`"ignore_non_elastic_batch_info": true` turns the error off; the sizes are then ignored.

Release 0.19.8 removed elasticity and rejects the section itself.

Remove the batch sizes, or the `elasticity` section.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.deepspeed import BATCH_KEYS, enabled
from trainyard.model.run import DeepSpeed


@rule(
    code="DS010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig.__init__, batch_params",
        "deepspeedai/DeepSpeed 0.19.8 runtime/config.py: _REMOVED_TOP_LEVEL_CONFIG_KEYS",
    ),
)
def ds_elastic_batch_conflict(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report batch sizes in a configuration with elasticity enabled."""
    config = deepspeed.config
    if not enabled(config, "elasticity") or mapping(config, "elasticity").get("ignore_non_elastic_batch_info"):
        return
    for key in BATCH_KEYS:
        if key in config:
            yield Problem(
                deepspeed.at.child(key),
                f"{key} conflicts with `elasticity`, which chooses the batch: DeepSpeed stops at start-up",
                f"remove {key}",
                related=((deepspeed.at.child("elasticity", "enabled"), "elasticity is enabled here"),),
            )
