"""Trains a small model with DeepSpeed and its own checkpoints: `train.py FOLDER STEPS --deepspeed_config FILE`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import deepspeed
import torch
from torch import distributed, nn
from trainyard_trainer.library import SIGTERM_STATUS, StopVote, Watchdog, newest_sealed, seal

FEATURES, SAVE_STEPS = 64, 8


def main(arguments: argparse.Namespace) -> int:
    """Trains to the end, and returns the exit status: 143 after SIGTERM."""
    if not torch.cuda.is_available():
        # On CPUs DeepSpeed compiles its own all-reduce, for which a slim image has no compiler.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(FEATURES, 256), nn.GELU(), nn.Linear(256, 1))
    engine, _, _, _ = deepspeed.initialize(args=arguments, model=model, model_parameters=model.parameters())
    rank, steps = distributed.get_rank(), 0
    if newest := newest_sealed(arguments.folder):
        # The program trusts what it has sealed itself.
        _, saved = engine.load_checkpoint(arguments.folder, tag=Path(newest).name)
        steps = saved["steps"]
    stop, stopping = StopVote(), False
    with Watchdog() as watchdog:
        while steps < arguments.steps and not stopping:
            # The samples of a step depend on the step and the rank alone.
            generator = torch.Generator().manual_seed(steps * distributed.get_world_size() + rank)
            inputs = torch.randn(engine.train_micro_batch_size_per_gpu(), FEATURES, generator=generator)
            targets = inputs.square().sum(dim=1, keepdim=True) / FEATURES
            inputs = inputs.to(engine.device, next(engine.module.parameters()).dtype)
            loss = nn.functional.mse_loss(engine(inputs), targets.to(inputs))
            engine.backward(loss)
            engine.step()
            steps += 1
            watchdog.step_done(steps)
            stopping = stop.agreed()
            if stopping or steps % SAVE_STEPS == 0:
                # A save may take longer than a step.
                with watchdog.extended_limit():
                    engine.save_checkpoint(arguments.folder, tag=f"checkpoint-{steps}", client_state={"steps": steps})
                    distributed.barrier()
                    if rank == 0:
                        seal(Path(arguments.folder) / f"checkpoint-{steps}")
                        print(f"steps={steps} loss={loss.item():.4f}", flush=True)
                    # In the next step, the others could not tell the seal from a hang.
                    distributed.barrier()
    if rank == 0 and not stopping:
        print(f"finished: ranks={distributed.get_world_size()} steps={steps}", flush=True)
    distributed.barrier()
    distributed.destroy_process_group()
    return SIGTERM_STATUS if stopping else 0


if __name__ == "__main__":
    parser = deepspeed.add_config_arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("folder", help="folder of the checkpoints")
    parser.add_argument("steps", type=int, help="number of steps")
    parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", "0")))
    sys.exit(main(parser.parse_args()))
