"""NCCL itself: all-reduce on all GPUs, and on one."""

from __future__ import annotations

import json

from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Session, torchrun

GPU_MEBIBYTES, CPU_MEBIBYTES = 256, 4


def all_reduce(session: Session, ranks: int) -> Measured:
    """Measures an all-reduce on this many ranks."""
    size = GPU_MEBIBYTES if session.machine.device == "cuda" else CPU_MEBIBYTES
    arguments = [*torchrun(ranks), "-m", "tools.gpu.programs.all_reduce", str(size)]
    lines = session.output_of("all-reduce", arguments, "the all-reduce")
    found: dict[str, float | int | str] = json.loads(next(line for line in lines if line.startswith("{")))
    if found["backend"] != session.machine.backend or found["ranks"] != ranks:
        raise CheckFailedError(f"the process group has the backend {found['backend']} and {found['ranks']} ranks")
    if found["deviation"]:
        raise CheckFailedError(f"the sum is wrong by {found['deviation']}")
    return found | {"mebibytes": size}


_EXACT = "each element is exactly the sum of the ranks, because sums of small whole numbers are exact in fp32"

CHECKS = (
    Check(
        name="all-reduce",
        what="NCCL starts on all GPUs and reduces 256 MiB",
        bar=f"{_EXACT}; the bus bandwidth has no bar, because it depends on the links of the machine",
        run=lambda session: all_reduce(session, session.machine.ranks),
        gpus=2,
        rehearsed=True,
    ),
    Check(
        name="all-reduce-one-gpu",
        what="NCCL starts on one GPU, as a world of one",
        bar=_EXACT,
        run=lambda session: all_reduce(session, 1),
        rehearsed=True,
    ),
)
