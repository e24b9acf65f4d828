"""Multi-node NVLink needs cuMem: with `NCCL_CUMEM_ENABLE=0` NCCL leaves it off and all traffic takes the network.

Memory that GPUs of other nodes may map is allocated through CUDA's cuMem functions. `NCCL_MNNVL_ENABLE=1` asks for
multi-node NVLink, and the documentation says that initialization then fails where it cannot be had; with cuMem switched
off, however, the check ends before it looks, and NCCL goes on without it. On a rack of NVLink-connected nodes that is a
loss of an order of magnitude which no message explains.

cuMem is on by itself since NCCL 2.19 where the driver supports it. `NCCL_CUMEM_ENABLE=0` is often a left-over from a
work-around for older releases.

Remove `NCCL_CUMEM_ENABLE`, or give up multi-node NVLink with `NCCL_MNNVL_ENABLE=0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.strtoll import number
from validator.model import Container
from validator.rule import Problem, rule


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
    """Multi-node NVLink asked for, and what it needs switched off."""
    wanted, memory = container.setting("NCCL_MNNVL_ENABLE"), container.setting("NCCL_CUMEM_ENABLE")
    if wanted is None or memory is None or number(wanted.value) != 1 or number(memory.value) != 0:
        return
    yield Problem(
        memory.at,
        "NCCL_CUMEM_ENABLE=0 keeps multi-node NVLink off although NCCL_MNNVL_ENABLE=1 asks for it",
        "remove NCCL_CUMEM_ENABLE",
        related=((wanted.at, "multi-node NVLink is asked for here"),),
    )
