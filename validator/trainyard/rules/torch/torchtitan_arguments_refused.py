"""torchtitan refuses its degrees of parallelism, its schedule or its microbatches, so every process stops at start-up.

`ParallelDims` asserts that every degree is at least 1. `data_parallel_shard_degree` alone may be -1, for the ranks that
are left; this does not hold for `data_parallel_replicate_degree`. The batch of a rank must be a multiple of
`pipeline_parallel_microbatch_size`. The schedule 1F1B of PyTorch, which torchtitan takes by default, needs a microbatch
for each stage: with fewer, former releases hang. The schedule is one of PyTorch's, and the load balancer of context
parallelism is `headtail` or `ptrr`.

The rule reads the options of the command. It does not know the configuration file.

Write a degree of 1 where there is no parallelism, and smaller microbatches.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_scripts
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

_PREFIX = "--parallelism."
_SHARDS = f"{_PREFIX}data-parallel-shard-degree"
_STAGES = f"{_PREFIX}pipeline-parallel-degree"
_DEGREES = (
    f"{_PREFIX}data-parallel-replicate-degree", f"{_PREFIX}tensor-parallel-degree", _STAGES,
    f"{_PREFIX}context-parallel-degree", f"{_PREFIX}expert-parallel-degree", f"{_PREFIX}expert-tensor-parallel-degree",
)  # fmt: skip
_MICROBATCH, _BATCH = f"{_PREFIX}pipeline-parallel-microbatch-size", "--training.local-batch-size"
_SCHEDULE = f"{_PREFIX}pipeline-parallel-schedule"
# PyTorch ignores the case of their letters.
_SCHEDULES = (
    "1F1B", "Interleaved1F1B", "GPipe", "LoopedBFS", "InterleavedZeroBubble", "PipelineScheduleSingle",
    "PipelineScheduleMulti", "ZBVZeroBubble", "DualPipeV",
)  # fmt: skip
_BALANCER, _BALANCERS = f"{_PREFIX}context-parallel-load-balancer", ("headtail", "ptrr", "None")
_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")
# Whole numbers below 1.
_NONE = pattern(r"0|-[0-9]{1,9}")


@rule(
    code="TD080",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch/torchtitan v0.1.0, v0.2.0, v0.2.2 and b5bcd76c torchtitan/distributed/parallel_dims.py: _validate",
        "pytorch/torchtitan v0.2.2 torchtitan/distributed/pipeline_parallel.py lines 186-199: build_pipeline_schedule",
        "pytorch 2.15.0 torch/distributed/pipelining/schedules.py line 1440: Schedule1F1B",
        "pytorch 2.15.0 torch/distributed/pipelining/schedules.py line 5227: get_schedule_class",
        "pytorch/torchtitan b5bcd76c torchtitan/config/configs.py lines 242-248: context_parallel_load_balancer",
        "github.com/pytorch/torchtitan pull requests 659, 4506 and 4564, issue 775",
    ),
    needs=("torchtitan",),
)
def torchtitan_arguments_refused(container: Container) -> Iterator[Problem]:
    """Report options that torchtitan or its schedule refuses."""
    for launch, script in torchrun_scripts(container):
        if any("torchtitan" in word for word in (*launch.words, *script.words[:1])):
            yield from _degrees(script)
            yield from _microbatches(script)
            yield from _names(script)


def _degrees(script: Command) -> Iterator[Problem]:
    for name in (*_DEGREES, _SHARDS):
        found = script.option_at(name)
        if found is None or not _NONE.fullmatch(found[0]) or (name == _SHARDS and found[0] == "-1"):
            continue
        said = _said(name)
        only = "1 or more, or -1" if name == _SHARDS else "1 or more; data_parallel_shard_degree alone may be -1"
        yield Problem(found[1], f"{said} is {found[0]}: torchtitan stops", f"write {only}")


def _microbatches(script: Command) -> Iterator[Problem]:
    size, batch, stages = (_number(script, name) for name in (_MICROBATCH, _BATCH, _STAGES))
    if size is None or batch is None or stages is None or stages[0] < 2:
        return
    if batch[0] % size[0]:
        message = f"the batch of {batch[0]} is not a multiple of the microbatch size {size[0]}: torchtitan stops"
        yield Problem(size[1], message, f"write a size that divides {batch[0]}")
    elif batch[0] // size[0] < stages[0] and script.option(_SCHEDULE) == "1F1B":
        count = f"{batch[0] // size[0]} microbatches are fewer than the {stages[0]} stages"
        yield Problem(
            size[1], f"{count}: the schedule 1F1B refuses them", "write smaller microbatches, or a larger batch"
        )


def _names(script: Command) -> Iterator[Problem]:
    for option, names, has_cases in ((_SCHEDULE, _SCHEDULES, False), (_BALANCER, _BALANCERS, True)):
        found = script.option_at(option)
        name = found[0] if found is not None else ""
        known = names if has_cases else {one.lower() for one in names}
        if found is None or not _NAME.fullmatch(name) or (name if has_cases else name.lower()) in known:
            continue
        near = closest_match(name, names, 0.7)
        told = f"did you mean `{near}`?" if near is not None else f"write one of {', '.join(names)}"
        yield Problem(found[1], f"{_said(option)} has no `{name}`: torchtitan stops", told)


def _number(script: Command, name: str) -> tuple[int, Place] | None:
    found = script.option_at(name)
    number = decimal(found[0]) if found is not None else None
    return (number, found[1]) if found is not None and number else None


def _said(name: str) -> str:
    return name.removeprefix(_PREFIX).replace("-", "_")
