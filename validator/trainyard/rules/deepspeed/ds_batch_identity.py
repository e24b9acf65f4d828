"""The batch sizes of the DeepSpeed configuration do not multiply to one another, so every process stops at start-up.

DeepSpeed asserts that `train_batch_size` equals `train_micro_batch_size_per_gpu` times `gradient_accumulation_steps`
times the number of data-parallel processes. Where one of the three is missing it is computed with integer division,
and the same assertion fails when the division leaves a remainder. The number of processes comes from the job: pods
times processes in each pod, or what `mpirun -np` and `accelerate --num_processes` say.

An elastic job is reported when no number of pods between its bounds fits. Runs that split the model as well (tensor,
pipeline or sequence parallelism), elasticity, which chooses the batch, and sizes of `auto` are left alone.

Leave out `train_batch_size` if the number of GPUs is meant to decide it; otherwise write the product.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.deepspeed import BATCH_KEYS, enabled
from validator.model import DeepSpeed
from validator.roads.deepspeeds import data_parallel_sizes
from validator.rule import Context, Problem, SetValue, rule


@rule(
    code="DS001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._batch_assertion",
        "deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._set_batch_related_parameters",
    ),
    fix="unsafe",
)
def ds_batch_identity(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Batch sizes that contradict each other for the job's number of processes."""
    config = deepspeed.config
    sizes = [config.get(key) for key in BATCH_KEYS]
    if context.run is None or enabled(config, "elasticity") or any(not _size_or_none(size) for size in sizes):
        return
    total, micro, steps = sizes
    worlds = data_parallel_sizes(context.run, config)
    factor = (micro or 1) * (steps or 1)
    if not total or not worlds or any(_fits(total, factor * world, micro, steps) for world in worlds):
        return
    at = deepspeed.at.child("train_batch_size")
    processes = str(worlds[0]) if len(worlds) == 1 else f"{worlds[0]} to {worlds[-1]}"
    parts = (
        [f"{micro} per GPU"] * bool(micro) + [f"{steps} accumulation steps"] * bool(steps) + [f"{processes} processes"]
    )
    relation = "is not" if micro and steps else "is no multiple of"
    product = factor * worlds[0] if len(worlds) == 1 else None
    yield Problem(
        at,
        f"train_batch_size {total} {relation} {' x '.join(parts)}: DeepSpeed stops at start-up",
        f"write {product}, or leave train_batch_size out" if product else "leave train_batch_size out",
        (SetValue(at, product),) if product and micro and steps else (),
        ((context.run.at, f"{processes} processes train here"),),
    )


def _fits(total: int, product: int, micro: int | None, steps: int | None) -> bool:
    return total == product if micro and steps else total % product == 0


def _size_or_none(size: object) -> bool:
    return size is None or (isinstance(size, int) and not isinstance(size, bool) and size > 0)
