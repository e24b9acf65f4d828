"""PyTorch has no more use for this variable, or knows it under another name.

`TORCH_NCCL_AVOID_RECORD_STREAMS` asked for what is now the only behaviour: tensors of a collective are held until it is
waited for. Releases from 2.8 warn in the log of every rank, 2.15 does not read it any more.

`PYTORCH_CUDA_ALLOC_CONF` is kept for old manifests; the allocator's options are no longer CUDA's alone, and the
documentation has them under `PYTORCH_ALLOC_CONF`. Where both are set the old name wins, so that a change under the new
one does nothing. Older releases do not know the new name: the rule speaks of it only when the target is known to be
PyTorch 2.10 or later.

Remove the first, rename the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped, name_at, renamed
from validator.model import Setting
from validator.rule import Context, Problem, rule

RECORD_STREAMS = "TORCH_NCCL_AVOID_RECORD_STREAMS"
ALWAYS_SINCE = (2, 8)
ALLOCATOR, NEW_ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
SURELY_RENAMED_SINCE = (2, 10)


@rule(
    code="TD006",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.12 torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: TORCH_NCCL_AVOID_RECORD_STREAMS",
        "pytorch 2.15.0 c10/core/AllocatorConfig.h and c10/cuda/CUDAAllocatorConfig.h: PYTORCH_ALLOC_CONF",
    ),
    fix="safe",
    needs=("PYTORCH_", "TORCH_NCCL_"),
)
def torch_deprecated_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that went out of use."""
    version = context.target.torch
    if setting.name == RECORD_STREAMS and (version is None or version >= ALWAYS_SINCE):
        yield Problem(
            name_at(setting),
            f"{RECORD_STREAMS} has no effect: what it asks for is always so since PyTorch 2.8",
            "remove it",
            dropped(setting),
        )
    if setting.name == ALLOCATOR and version is not None and version >= SURELY_RENAMED_SINCE:
        both = context.container is not None and context.container.setting(NEW_ALLOCATOR) is not None
        yield Problem(
            name_at(setting),
            f"{ALLOCATOR} is kept for old manifests, and wins over {NEW_ALLOCATOR}",
            f"write {NEW_ALLOCATOR}",
            () if both else renamed(setting, NEW_ALLOCATOR),
        )
