"""Short trainings with each strategy: `torchrun … -m tests.trainer.strategy_trials FOLDER`.

Writes the results to FOLDER/SIZE.pt, SIZE being the world size, and checkpoints to FOLDER/NAME.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.tensor import DTensor
from torch.profiler import ProfilerActivity, profile

from trainer.checkpoint.peers import Peers
from trainer.checkpoint.staging import Stager
from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.sampler import GlobalSampler, Step
from trainer.metrics.accuracy import sample_losses
from trainer.models import build_model
from trainer.parallel import init_device, parallelize
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch

STEPS, SAVED_AT = 20, 10
# Every tenth batch is short: one of four ranks has no samples, and many of the accumulated micro-batches are empty.
SAMPLES, BATCH, PART = 84, 9, 2
LEARNING_RATE = 0.01
COMMON = {"dropout": 0.0, "batch_size": BATCH, "hidden_size": 32, "clip_norm": 0.5, "learning_rate": LEARNING_RATE}
MODELS: dict[str, dict[str, Any]] = {
    "mlp": COMMON,
    "odd": COMMON | {"hidden_size": 31},  # halves of its parameters are not equal
    "gpt": COMMON | {"model": "gpt", "data": "text", "num_layers": 1, "context_length": 16},
    # With all options of the optimizer.
    "llama": COMMON
    | {"model": "llama", "data": "text", "num_layers": 1, "context_length": 16, "num_kv_heads": 2, "mlp_size": 48}
    | {"tie_embeddings": True, "weight_decay": 0.5, "weight_decay_scope": "matrices"}
    | {"adam_beta1": 0.8, "adam_beta2": 0.95, "adam_eps": 1e-5},
}
ZERO: dict[str, Any] = {"strategy": "deepspeed"}
# The c10d operators that reduce gradients. Other operators move parameters and activations.
REDUCTIONS = {"c10d::allreduce_", "c10d::reduce_", "c10d::_reduce_scatter_base_", "c10d::reduce_scatter_"}


@dataclass(kw_only=True)
class Outcome:
    """Loss and gradient norm of each step from `begin`, and the full state at the end."""

    begin: int = 0
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    state: dict[str, Tensor] = field(default_factory=dict)


class Trial:
    """One model with one strategy. All methods are collectives."""

    def __init__(self, world: World, model: str, **fields: Any) -> None:
        self.world = world
        self.config = TrainerConfig(**{**MODELS[model], "micro_batch_size": PART if world.size > 1 else 0, **fields})
        self.data = load_data(self.config)
        torch.manual_seed(self.config.seed)
        with init_device(world):
            built = build_model(self.config, shape=self.data.shape, classes=self.data.classes)
        self.strategy = parallelize(built, self.config, world)
        self.outcome = Outcome()

    def train(self, begin: int, end: int) -> Outcome:
        """Takes the steps from `begin` up to, but not including, `end`."""
        self.outcome.begin = begin
        for step in self._steps(begin, end):
            loss_sum = self.accumulate(step)
            self.outcome.norms.append(self.strategy.update(LEARNING_RATE))
            self.outcome.losses.append(self.world.sum([loss_sum])[0] / step.global_size)
        self.outcome.state = self.full_state()
        return self.outcome

    def accumulate(self, step: Step) -> float:
        """Accumulates the gradients of one step. Returns the sum of the losses that this rank counts."""
        batch = self.data.training.take(step.indices)
        size = self.config.micro_batch_size or step.max_local_size
        loss_sum = 0.0
        for start in range(0, step.max_local_size, size):
            part = batch[start : start + size]
            loss = sample_losses(self.strategy.forward(part.inputs), part.targets).sum()
            self.strategy.backward(loss, step.global_size, last=start + size >= step.max_local_size)
            loss_sum += float(loss.detach())
        return loss_sum if self.strategy.data_shard.is_leader else 0.0

    def save(self, path: Path) -> None:
        """Writes the state as a checkpoint."""
        save(self.strategy.state_dict(), checkpoint_id=path)

    def load(self, path: Path) -> None:
        """Loads the state of a checkpoint, whichever strategy wrote it."""
        state = self.strategy.state_dict()
        load(state, checkpoint_id=path)
        self.strategy.load_state_dict(state)

    def full_state(self) -> dict[str, Tensor]:
        """Returns the full state, unsharded."""
        return {
            name: (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).detach().clone()
            for name, tensor in self.strategy.state_dict().items()
        }

    def first_step(self) -> Step:
        """Returns the first step, whose batch is full."""
        return next(self._steps(0, 1))

    def _steps(self, begin: int, end: int) -> Iterator[Step]:
        share = self.strategy.data_shard
        sampler = GlobalSampler(num_samples=SAMPLES, batch_size=BATCH, seed=0, rank=share.rank, world_size=share.size)
        position = 0
        for number in range(end):
            step = next(sampler.rest_of_epoch(position))
            position = step.position
            if number >= begin:
                yield step


def from_scratch(world: World, model: str, save: Path | None = None, **fields: Any) -> Outcome:
    """Takes all steps; saves a checkpoint at `save` on the way."""
    trial = Trial(world, model, **fields)
    if save is None:
        return trial.train(0, STEPS)
    trial.train(0, SAVED_AT)
    trial.save(save)
    trial.train(SAVED_AT, STEPS)
    trial.outcome.begin = 0
    return trial.outcome


def from_checkpoint(world: World, model: str, path: Path, **fields: Any) -> tuple[dict[str, Tensor], Outcome]:
    """Loads a checkpoint and takes the remaining steps. Returns the loaded state and the outcome."""
    trial = Trial(world, model, **fields)
    trial.load(path)
    return trial.full_state(), trial.train(SAVED_AT, STEPS)


def exchanges(world: World, **fields: Any) -> list[int]:
    """Returns the number of reductions in a step with one micro-batch, and in one with several."""
    counts = []
    for part in (0, 1):
        trial = Trial(world, "mlp", micro_batch_size=part, **fields)
        trial.train(0, 1)  # lays out buckets and connects groups
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            trial.accumulate(trial.first_step())
        counts.append(sum(event.count for event in profiler.key_averages() if event.key in REDUCTIONS))
    return counts


def fp16_on_any_processor(strategy: str | None) -> AbstractContextManager[object]:
    """Lets DeepSpeed accept fp16 without oneDNN's fp16 kernels: PyTorch computes it on every processor, only slower."""
    if strategy != "deepspeed":
        return nullcontext()
    return patch("deepspeed.accelerator.cpu_accelerator.CPU_Accelerator.is_fp16_supported", return_value=True)


def overflows(world: World, strategies: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the effects of infinite gradients with each strategy in each precision, by both names."""
    return {
        f"{name} {precision}": overflow(world, precision=precision, **fields)
        for name, fields in strategies.items()
        for precision in ("fp32", "bf16", "fp16")
    }


def overflow(world: World, **fields: Any) -> dict[str, Any]:
    """Takes a step in which only the last rank has infinite gradients, and returns its effects."""
    with fp16_on_any_processor(fields.get("strategy")):
        trial = Trial(world, "mlp", **fields)
    trial.train(0, 2)
    before, scale = trial.outcome.state, trial.strategy.scale.value
    step = trial.first_step()
    last = world.rank == world.size - 1
    inputs = trial.data.training.take(step.indices).inputs
    trial.strategy.backward(trial.strategy.forward(inputs).sum() * (math.inf if last else 1.0), BATCH, last=True)
    norm = trial.strategy.update(LEARNING_RATE)
    after = trial.full_state()
    return {
        "norm": norm,
        "changed": [name for name, tensor in after.items() if not torch.equal(tensor, before[name])],
        "scales": world.gather((scale, trial.strategy.scale.value)),
    }


def copies_differ(world: World, **fields: Any) -> list[str]:
    """Returns the parameters, not sharded over all ranks, whose copies on two ranks differ in any bit."""
    trial = Trial(world, "gpt", **fields)
    trial.train(0, 5)
    parts = {
        name: (tensor.placements[-1].is_replicate() or tensor.device_mesh.ndim == 1, tensor.to_local().clone())
        for name, tensor in trial.strategy.state_dict().items()
        if isinstance(tensor, DTensor)
    }
    columns = trial.config.tensor_size
    by_rank = world.gather(parts)
    return [
        name
        for rank, parts in enumerate(by_rank)
        for name, (is_copy, part) in parts.items()
        if is_copy and not torch.equal(part, by_rank[rank // columns * columns][name][1])
    ]


def surplus(world: World, **fields: Any) -> list[float]:
    """Returns, for each rank, the memory needed only while a model was parallelized, as a share of the model size."""
    trial = Trial(world, "gpt", **{"hidden_size": 512, "num_layers": 12, "num_heads": 8, **fields})
    size = sum(parameter.numel() for parameter in trial.strategy.model.parameters()) * 4
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak, now = (int(status[name].split()[0]) * 1024 for name in ("VmHWM", "VmRSS"))
    return world.gather((peak - now) / size)


def copied_again(world: World, **fields: Any) -> list[str]:
    """Returns the tensors that a save copies although `state_dict` has made a copy."""
    strategy = Trial(world, "mlp", **fields).strategy
    state = strategy.state_dict()
    made = {name: (tensor.to_local() if isinstance(tensor, DTensor) else tensor) for name, tensor in state.items()}
    stager = Stager(world.device, Peers(world.cpu_group()))
    stager.begin()
    staged = stager.stage(state, copied=strategy.state_is_copied)
    return [name for name, copy in staged.copies.items() if copy.data_ptr() != made[name].data_ptr()]


def on_four_ranks(world: World, folder: Path) -> dict[str, Any]:
    """Reads a single-process checkpoint with HSDP, and writes checkpoints with FSDP2 and tensor parallelism."""
    found = {"surplus": surplus(world, strategy="fsdp2")}  # first, because a process has only one memory peak
    loaded, hsdp = from_checkpoint(world, "gpt", folder / "alone", strategy="fsdp2", shard_size=2)
    outcomes = {
        "gpt hsdp": hsdp,
        "gpt fsdp2": from_scratch(world, "gpt", folder / "fsdp2-on-4", strategy="fsdp2"),
        "gpt tensor": from_scratch(world, "gpt", folder / "tensor-on-4", strategy="tensor"),
    }
    mlp: dict[str, dict[str, Any]] = {
        "ddp": {},
        "hsdp": {"strategy": "fsdp2", "shard_size": 2},
        "tensor": {"strategy": "tensor"},
    }
    outcomes |= {f"mlp {name}": from_scratch(world, "mlp", **fields) for name, fields in mlp.items()}
    return found | {
        "outcomes": {name: asdict(outcome) for name, outcome in outcomes.items()},
        "different": copies_differ(world, strategy="tensor"),
        "overflown": overflows(world, {name: mlp[name] for name in ("hsdp", "tensor")}),
        "loaded": loaded,
    }


def on_two_ranks(world: World, folder: Path) -> dict[str, Any]:
    """Runs the trials on two ranks. ZeRO 3 is last, because it replaces torch.nn.functional.linear in the process."""
    gpt: dict[str, dict[str, Any]] = {
        "ddp": {"compile": True, "activation_checkpointing": True},
        "fsdp2": {"strategy": "fsdp2", "compile": True, "activation_checkpointing": True},
        "tensor": {"strategy": "tensor"},
        "zero-1": ZERO | {"zero_stage": 1},
        "zero-2-offload": ZERO | {"zero_stage": 2, "offload": "cpu"},
    }
    mlp: dict[str, dict[str, Any]] = {
        "ddp": {},
        "fsdp2": {"strategy": "fsdp2"},
        "zero-1": ZERO | {"zero_stage": 1},
        "zero-2": ZERO | {"zero_stage": 2},
    }
    outcomes = {f"gpt {name}": from_scratch(world, "gpt", **fields) for name, fields in gpt.items()}
    outcomes |= {f"mlp {name}": from_scratch(world, "mlp", **fields) for name, fields in mlp.items()}
    # Compiled once, by ddp: another compilation takes seconds.
    llama = gpt | {"fsdp2": {"strategy": "fsdp2"}}
    outcomes |= {f"llama {name}": from_scratch(world, "llama", **fields) for name, fields in llama.items()}
    found = {
        "copied again": copied_again(world, **ZERO, zero_stage=1),
        "halves": {
            name: asdict(from_scratch(world, "mlp", precision="bf16", **fields)) for name, fields in mlp.items()
        },
        "exchanges": {name: exchanges(world, **fields) for name, fields in mlp.items()},
    }
    overflown = overflows(world, mlp)
    loaded, zero_3 = from_checkpoint(world, "gpt", folder / "fsdp2-on-4", **ZERO, zero_stage=3)
    outcomes |= {
        "gpt zero-3": zero_3,
        "llama zero-3": from_scratch(world, "llama", **ZERO, zero_stage=3),
        "odd zero-3-offload": from_scratch(world, "odd", folder / "zero-3-on-2", **ZERO, zero_stage=3, offload="cpu"),
    }
    overflown |= overflows(world, {"zero-3": ZERO | {"zero_stage": 3}})
    return found | {
        "outcomes": {name: asdict(outcome) for name, outcome in outcomes.items()},
        "overflown": overflown,
        "loaded": loaded,
    }


def main(folder: Path) -> None:
    """Runs this rank's part of the trials."""
    torch.set_num_threads(1)
    # Generating machine code would take a minute and not change the results.
    torch.compile = functools.partial(torch.compile, backend="aot_eager")
    with process_group(Launch.from_environment(os.environ), timeout_seconds=120) as world:
        found = {2: on_two_ranks, 4: on_four_ranks}[world.size](world, folder)
        if world.rank == 0:
            torch.save(found, folder / f"{world.size}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
