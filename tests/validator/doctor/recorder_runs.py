"""Writes flight-recorder dumps of three ranks, which gloo records without a GPU: `python -m ...recorder_runs FOLDER`.

PyTorch leaves the stack traces out, because they hold the paths of the machine.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn

WORLD = 3
# The run, and what the last collective of a rank is in it.
RUNS = ("complete", "not-joined", "other-operation", "other-type")
_TIMEOUT = 3


def _last(run: str, rank: int) -> None:
    if run == "not-joined" and rank == 2:
        time.sleep(_TIMEOUT + 2)
    elif run == "other-operation" and rank == 1:
        dist.broadcast(torch.ones(8), src=0)
    else:
        kind = torch.int32 if run == "other-type" and rank == 1 else torch.float32
        dist.all_reduce(torch.ones(8, dtype=kind))


def _rank(rank: int, run: str, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29611", RANK=str(rank), WORLD_SIZE=str(WORLD))
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=_TIMEOUT))
    dist.all_reduce(torch.ones(4))
    dist.all_reduce(torch.ones(4))
    try:
        _last(run, rank)
    except RuntimeError as error:
        print(f"[rank{rank}]: {error}", flush=True)
    recorder = torch._C._distributed_c10d
    Path(folder, f"nccl-rank-{rank}").write_bytes(recorder._dump_fr_trace(True, False))
    Path(folder, f"nccl-rank-{rank}.json").write_bytes(recorder._dump_fr_trace_json(True))
    # The process group cannot be ended in order once a rank has missed a collective.
    os._exit(0)


def main(folder: str) -> None:
    """Writes the dumps of all runs."""
    os.environ["TORCH_FR_BUFFER_SIZE"] = "100"
    for run in RUNS:
        Path(folder, run).mkdir(parents=True, exist_ok=True)
        spawn(_rank, args=(run, str(Path(folder, run))), nprocs=WORLD)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(sys.argv[1])
