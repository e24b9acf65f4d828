"""NCCL itself: all-reduce on all GPUs, and on one."""

from __future__ import annotations

import json

from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Session, first_error

GPU_MEBIBYTES, CPU_MEBIBYTES = 256, 4


def all_reduce(session: Session, ranks: int) -> Measured:
    """Measures an all-reduce on this many ranks."""
    size = GPU_MEBIBYTES if session.machine.device == "cuda" else CPU_MEBIBYTES
    torchrun = ("torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m")
    process, log = session.launch("all-reduce", [*torchrun, "tools.gpu.programs.all_reduce", str(size)], {})
    if status := session.wait(process, "the all-reduce"):
        raise CheckFailedError(f"the all-reduce exits with {status}: {first_error(log)}")
    line = next(line for line in log.read_text().splitlines() if line.startswith("{"))
    found: dict[str, float | int | str] = json.loads(line)
    wanted = "nccl" if session.machine.device == "cuda" else "gloo"
    if found["backend"] != wanted or found["ranks"] != ranks:
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
