"""`NCCL_NET_GDR_LEVEL=LOC` turns GPUDirect RDMA off, so all network traffic goes through host memory.

The variable is the greatest distance between GPU and network adapter at which NCCL lets the adapter read GPU memory
directly. `LOC` means no distance at all: every transfer is copied to host memory first, which costs bandwidth, latency
and CPU time. The setting is often left over from a search for a fault, or copied from a machine without the kernel
module or DMA-BUF that GPUDirect needs; NCCL detects by itself if they are there.

Leave the variable unset: NCCL chooses from the machine's topology. Write `PHB` or `SYS` to allow greater distances.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value, remove_variable
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting


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
    """The level that turns GPUDirect RDMA off."""
    if setting.name == "NCCL_NET_GDR_LEVEL" and literal_value(setting) == "LOC":
        yield Problem(
            setting.at,
            "NCCL_NET_GDR_LEVEL=LOC turns GPUDirect RDMA off",
            "leave the variable unset: NCCL chooses from the topology",
            remove_variable(setting),
        )
