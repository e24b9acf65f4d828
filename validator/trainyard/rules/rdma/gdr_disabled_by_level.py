"""`NCCL_NET_GDR_LEVEL=LOC` turns GPUDirect RDMA off, so all network traffic takes a detour through host memory.

The variable is the greatest distance between GPU and network card at which NCCL lets the card read GPU memory
directly. `LOC` is no distance at all: every transfer is copied to host memory first, which costs bandwidth, latency
and CPU time. The setting is often left over from the search for a fault, or copied from a machine without the kernel
module or DMA-BUF that GPUDirect needs; NCCL finds out by itself whether it is there.

Leave the variable out: NCCL chooses by the machine's topology. Write `PHB` or `SYS` to allow greater distances.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped, literal
from validator.model import Setting
from validator.rule import Problem, rule


@rule(
    code="RD010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_NET_GDR_LEVEL",),
    fix="unsafe",
    needs=("NCCL_NET_GDR_LEVEL",),
)
def gdr_disabled_by_level(setting: Setting) -> Iterator[Problem]:
    """The level at which GPUDirect RDMA is off."""
    if setting.name == "NCCL_NET_GDR_LEVEL" and literal(setting) == "LOC":
        yield Problem(
            setting.at,
            "NCCL_NET_GDR_LEVEL=LOC turns GPUDirect RDMA off",
            "leave the variable out: NCCL chooses by the topology",
            dropped(setting),
        )
