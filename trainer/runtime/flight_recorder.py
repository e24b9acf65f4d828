"""PyTorch's flight recorder, which records the last collectives of each rank and so shows which rank missed one.

The records are kept in memory. They are written when NCCL times out or when `dump` is called.
`python -m torch.distributed.flight_recorder.fr_trace` compares the files of all ranks.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

import torch

from ..errors import ConfigError

PREFIX = "nccl-rank-"

# Current and former names; PyTorch still accepts a former name, with a warning. The defaults differ between versions.
# Source: torch/csrc/distributed/c10d/FlightRecorder.hpp and ProcessGroupNCCL.hpp
_WANTED = {
    ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"): "2000",
    ("TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_ON_TIMEOUT"): "1",
}
_FILE = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")


def enable(dump_dir: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Makes NCCL write its records to `dump_dir`. Call it before the process group is made. User settings win.

    Raises:
        ConfigError: The folder cannot be created.
    """
    try:
        dump_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot create --dump-dir {dump_dir} ({error.strerror}): write another folder") from error
    for names, value in (_WANTED | {_FILE: str(dump_dir / PREFIX)}).items():
        if not any(name in environment for name in names):
            environment[names[0]] = value


def dump(dump_dir: Path, rank: int) -> None:
    """Writes this rank's record now, to the file that NCCL would use. Does nothing without a GPU."""
    if not torch.cuda.is_available():
        return
    # Documented in https://docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html
    record: bytes = torch._C._distributed_c10d._dump_nccl_trace()  # type: ignore[attr-defined]
    (dump_dir / f"{PREFIX}{rank}").write_bytes(record)
