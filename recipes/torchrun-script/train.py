"""A training loop of one's own, with checkpoints, SIGTERM and a watchdog of Trainyard: `train.py FOLDER EPOCHS`."""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from trainyard_trainer.library import SIGTERM_STATUS, Checkpoints, GlobalSampler, StopVote, Watchdog

SAMPLES, FEATURES, BATCH, SAVE_STEPS = 4096, 64, 256, 8


def main(folder: str, epochs: int) -> int:
    """Trains to the end, and returns the exit status: 143 after SIGTERM."""
    if gpus := torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = torch.device("cuda" if gpus else "cpu")
    dist.init_process_group("nccl" if gpus else "gloo")
    torch.manual_seed(0)
    inputs = torch.randn(SAMPLES, FEATURES)
    targets = inputs.square().sum(dim=1, keepdim=True) / FEATURES
    model = DistributedDataParallel(nn.Sequential(nn.Linear(FEATURES, 256), nn.GELU(), nn.Linear(256, 1)).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)

    rank, size = dist.get_rank(), dist.get_world_size()
    sampler = GlobalSampler(num_samples=SAMPLES, batch_size=BATCH, seed=0, rank=rank, world_size=size)
    checkpoints = Checkpoints(folder, model, optimizer)
    done = checkpoints.resume() or {"step": 0, "position": 0}
    stop = StopVote(grace_seconds=25)
    with Watchdog(hang_seconds=100) as watchdog:
        while done["position"] < epochs * SAMPLES:
            for part in sampler.rest_of_epoch(done["position"]):
                loss = nn.functional.mse_loss(model(inputs[part.indices].to(device)), targets[part.indices].to(device))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                done = {"step": done["step"] + 1, "position": part.position}
                watchdog.step_done(done["step"])
                stopping = stop.agreed()
                if stopping or done["step"] % SAVE_STEPS == 0:
                    # It waits for the save before, which a slow volume may not have finished.
                    with watchdog.extended_limit():
                        checkpoints.save(done["step"], done)
                    if rank == 0:
                        print(f"step={done['step']} loss={loss.item():.4f}", flush=True)
                if stopping:
                    with watchdog.extended_limit():
                        checkpoints.wait()
                    return SIGTERM_STATUS
        with watchdog.extended_limit():
            checkpoints.wait()
    if rank == 0:
        print(f"finished: ranks={size} steps={done['step']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
