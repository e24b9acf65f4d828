"""`NCCL_CUMEM_ENABLE=0` turns off multi-node NVLink, so traffic between nodes uses the network.

NCCL allocates memory that GPUs of other nodes may map through CUDA's cuMem functions. `NCCL_MNNVL_ENABLE=1` asks for
multi-node NVLink, and the documentation says that initialization fails if it is not available. With cuMem off, however,
the check returns early and NCCL continues without it. On a rack of NVLink-connected nodes that costs an order of
magnitude in bandwidth, and no message explains it.

cuMem is on by default since NCCL 2.19 if the driver supports it. `NCCL_CUMEM_ENABLE=0` is often left over from a
workaround for older releases.

Remove `NCCL_CUMEM_ENABLE`, or turn multi-node NVLink off with `NCCL_MNNVL_ENABLE=0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Container


@rule(
    code="NC029",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_MNNVL_ENABLE",
        "NVIDIA/nccl v2.30.7-1 src/mnnvl.cc: ncclMnnvlCheck",
    ),
    needs=("NCCL_MNNVL_ENABLE",),
)
def nccl_mnnvl_without_cumem(container: Container) -> Iterator[Problem]:
    """Multi-node NVLink without cuMem, which it needs."""
    wanted, memory = container.setting("NCCL_MNNVL_ENABLE"), container.setting("NCCL_CUMEM_ENABLE")
    if wanted is None or memory is None or parse_integer(wanted.value) != 1 or parse_integer(memory.value) != 0:
        return
    yield Problem(
        memory.at,
        "NCCL_CUMEM_ENABLE=0 keeps multi-node NVLink off, although NCCL_MNNVL_ENABLE=1 asks for it",
        "remove NCCL_CUMEM_ENABLE",
        related=((wanted.at, "multi-node NVLink is enabled here"),),
    )
