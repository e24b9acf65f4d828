"""DeepSpeed's elasticity finds no batch size for a GPU count that the job can have, and stops.

Version 0.1 of elasticity picks a total batch of at most `max_train_batch_size` that many GPU counts between `min_gpus`
and `max_gpus` divide evenly with one of the `micro_batch_sizes`; any other number of processes raises
ElasticityIncompatibleWorldSize. Version 0.2, the default, accepts each number as long as one micro batch per GPU fits
into `max_train_batch_size`. Both versions reject a section without these two fields or with `min_gpus` above
`max_gpus`.

For an elastic PyTorchJob the rule checks each number of workers from `minReplicas` to `maxReplicas`. It skips runs
that split the model. Release 0.19.8 removed elasticity.

Choose micro batch sizes with a common multiple that the job's GPU counts divide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import elastic_gpu_counts, enabled
from trainyard.loaders.manifests.deepspeed import data_parallel_sizes
from trainyard.model.run import DeepSpeed

# A message lists at most this many GPU counts.
LISTED = 8


@rule(
    code="DS011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 elasticity/elasticity.py: compute_elastic_config, _get_compatible_gpus_v01",
        "deepspeedai/DeepSpeed 0.19.6 elasticity/config.py: ElasticityConfig",
    ),
)
def ds_elastic_world_size(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report GPU counts of the job that elasticity rejects."""
    section = mapping(deepspeed.config, "elasticity")
    if not enabled(deepspeed.config, "elasticity"):
        return
    at = deepspeed.at.child("elasticity")
    for field in ("max_train_batch_size", "micro_batch_sizes"):
        if field not in section:
            yield Problem(
                at.key(), f"elasticity is enabled without {field}: DeepSpeed stops at start-up", f"write {field}"
            )
            return
    fewest, most = _bound(section, "min_gpus", 1), _bound(section, "max_gpus", 10000)
    if fewest is not None and most is not None and fewest > most:
        message = f"min_gpus {fewest} is above max_gpus {most}: DeepSpeed stops at start-up"
        yield Problem(at.child("min_gpus"), message, f"write at most {most}")
        return
    sizes = data_parallel_sizes(context.run, deepspeed.config) if context.run is not None else ()
    refused = _refused(section, sizes, fewest, most)
    if refused and context.run is not None:
        numbers = ", ".join(str(size) for size in refused[:LISTED]) + ", ..." * (len(refused) > LISTED)
        yield Problem(
            at.child("micro_batch_sizes"),
            f"no elastic batch size fits {numbers} GPUs, which this job can have: DeepSpeed stops at start-up",
            "choose micro_batch_sizes, max_train_batch_size, min_gpus and max_gpus that allow the job's GPU counts",
            related=((context.run.at, "the job"),),
        )


def _bound(section: dict[str, Any], field: str, default: int) -> int | None:
    return integer(section, field) if field in section else default


def _refused(section: dict[str, Any], sizes: tuple[int, ...], fewest: int | None, most: int | None) -> list[int]:
    largest = integer(section, "max_train_batch_size")
    micros = [micro for micro in items(section, "micro_batch_sizes") if isinstance(micro, int) and 0 < micro < 10**4]
    if largest is None or fewest is None or most is None or not 0 < largest < 10**6:
        return []
    if not micros or len(micros) != len(items(section, "micro_batch_sizes")) or _model_parallel(section):
        return []
    if str(section.get("version")) != "0.1":
        return [size for size in sizes if min(micros) * size > largest]
    import math

    if math.lcm(*micros) > largest:
        # Releases handle a common multiple above the largest batch differently.
        return []
    allowed = elastic_gpu_counts(micros, largest, fewest, most, section.get("prefer_larger_batch", True) is not False)
    return [size for size in sizes if size not in allowed]


def _model_parallel(section: dict[str, Any]) -> bool:
    return any(section.get(field, 1) != 1 for field in ("model_parallel_size", "num_gpus_per_node"))
