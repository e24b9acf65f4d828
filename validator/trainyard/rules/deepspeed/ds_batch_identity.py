"""The batch sizes of the DeepSpeed configuration conflict, so every process stops at start-up.

DeepSpeed asserts that `train_batch_size` equals `train_micro_batch_size_per_gpu` times `gradient_accumulation_steps`
times the number of data-parallel processes. If one of the three is missing, DeepSpeed computes it with integer
division, and the same assertion fails when the division leaves a remainder. The number of processes comes from the
job: pods times processes per pod, or the value of `mpirun -np` or `accelerate --num_processes`.

An elastic job is reported when no number of pods between its bounds fits. The rule skips runs that also split the
model (tensor, pipeline or sequence parallelism), configurations with elasticity, which chooses the batch, and sizes of
`auto`.

Leave out `train_batch_size` to let the number of GPUs decide it; otherwise write the product.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import BATCH_KEYS, enabled
from trainyard.loaders.manifests.deepspeed import data_parallel_sizes
from trainyard.model.run import DeepSpeed


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
    """Report batch sizes that contradict each other for the job's number of processes."""
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
    relation = "is not" if micro and steps else "is not a multiple of"
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
