"""Trains a small model with DeepSpeed, and the same model in one process without DeepSpeed for comparison."""

from __future__ import annotations

import argparse
import copy
import json
from typing import Any

import deepspeed
import torch
from torch import Tensor, distributed, nn

FEATURES, WIDTH, STEPS = 12, 40, 6


def parameters_here(model: Any, stage: int) -> int:
    """Returns the number of parameters that this process keeps between steps; in stage 3, only those of its shard."""
    if stage < 3:
        return sum(parameter.numel() for parameter in model.parameters())
    assert all(parameter.numel() == 0 for parameter in model.parameters()), "a parameter is unsharded between steps"
    return sum(parameter.ds_tensor.numel() for parameter in model.parameters())


def states_here(optimizer: Any) -> int:
    """Returns the number of elements of one Adam moment that this process keeps."""
    return sum(state["exp_avg"].numel() for state in optimizer.optimizer.state.values())


def train(inputs: Tensor, targets: Tensor) -> float:
    """Takes one step on this rank's part of a batch; returns the mean loss of the whole batch."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    parts = engine.gradient_accumulation_steps() * size
    total = torch.zeros(())
    # Parts 0 to size-1 are the first micro-batch of each rank, and so on.
    for part in range(rank, parts, size):
        loss = nn.functional.mse_loss(engine(inputs.chunk(parts)[part]), targets.chunk(parts)[part])
        total += loss.detach() / parts
        engine.backward(loss)
        engine.step()
    distributed.all_reduce(total)
    return float(total)


def train_alone(inputs: Tensor, targets: Tensor) -> float:
    """Takes the same step on the whole batch, without DeepSpeed."""
    loss = nn.functional.mse_loss(alone(inputs), targets)
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(alone.parameters(), engine.gradient_clipping())
    optimizer.step()
    return float(loss)


parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
arguments = parser.parse_args()
# On CPUs DeepSpeed compiles its own all-reduce for the processes of a node, but the image has no compiler.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
deepspeed.init_distributed()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
size_of_model = parameters_here(model, 0)
alone = copy.deepcopy(model)
engine, _, _, _ = deepspeed.initialize(args=arguments, model=model, model_parameters=model.parameters())
optimizer = torch.optim.AdamW(alone.parameters(), lr=engine.get_lr()[0])

inputs = torch.randn(STEPS, engine.train_batch_size(), FEATURES)
targets = inputs.sum(dim=2, keepdim=True)
losses = [train(*batch) for batch in zip(inputs, targets, strict=True)]
losses_alone = [train_alone(*batch) for batch in zip(inputs, targets, strict=True)]

stage = engine.zero_optimization_stage()
result = {
    "rank": distributed.get_rank(),
    "size": distributed.get_world_size(),
    "backend": distributed.get_backend(),
    "stage": stage,
    "batch": engine.train_batch_size(),
    "micro": engine.train_micro_batch_size_per_gpu(),
    "accumulation": engine.gradient_accumulation_steps(),
    "clipping": engine.gradient_clipping(),
    "parameters": size_of_model,
    "parameters_here": parameters_here(engine.module, stage),
    "states_here": states_here(engine.optimizer),
    "losses": losses,
    "losses_alone": losses_alone,
}
with deepspeed.zero.GatheredParameters(list(engine.module.parameters()), enabled=stage == 3):
    pairs = zip(engine.module.parameters(), alone.parameters(), strict=True)
    result["distance"] = max(float((ours - theirs).abs().max()) for ours, theirs in pairs)
# The run ends when rank 0 exits, so rank 0 prints the results of all ranks.
results: list[Any] = [None] * distributed.get_world_size()
distributed.all_gather_object(results, result)
if distributed.get_rank() == 0:
    print(*("result " + json.dumps(each) for each in results), sep="\n", flush=True)
distributed.barrier()
distributed.destroy_process_group()
