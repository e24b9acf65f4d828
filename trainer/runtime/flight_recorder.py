"""PyTorch's flight recorder: the last collectives of each rank, to see which one a rank did not come to.

It keeps them in memory and writes them when NCCL gives up on one, or when `dump` is called.
`python -m torch.distributed.flight_recorder.fr_trace` compares the files of all ranks.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

import torch

from trainer.errors import ConfigError

PREFIX = "nccl-rank-"

# By today's name and by the one before, with which PyTorch takes a variable, too, but warns. Each is what some version
# has by default and another has not. Source: torch/csrc/distributed/c10d/FlightRecorder.hpp and ProcessGroupNCCL.hpp
_WANTED = {
    ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"): "2000",
    ("TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_ON_TIMEOUT"): "1",
}
_FILE = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")


def arm(dump_dir: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Has NCCL's record written into `dump_dir`; call before the process group is made. What the user has set stays.

    Raises:
        ConfigError: The folder cannot be made.
    """
    try:
        dump_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--dump-dir {dump_dir} cannot be made ({error.strerror}): write another folder") from error
    for names, value in (_WANTED | {_FILE: str(dump_dir / PREFIX)}).items():
        if not any(name in environment for name in names):
            environment[names[0]] = value


def dump(dump_dir: Path, rank: int) -> None:
    """Writes this rank's record now, where NCCL would. Nothing where there is no GPU, and so no NCCL."""
    if not torch.cuda.is_available():
        return
    # As https://docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html has it.
    record: bytes = torch._C._distributed_c10d._dump_nccl_trace()  # type: ignore[attr-defined]
    (dump_dir / f"{PREFIX}{rank}").write_bytes(record)
