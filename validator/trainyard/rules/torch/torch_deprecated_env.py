"""PyTorch no longer uses this variable, or has renamed it.

`TORCH_NCCL_AVOID_RECORD_STREAMS` asked for what is now the only behaviour: PyTorch holds the tensors of a collective
until it is waited for. Releases from 2.8 warn in the log of every rank, and 2.15 no longer reads the variable.

`PYTORCH_CUDA_ALLOC_CONF` is kept for old manifests. The allocator's options are no longer specific to CUDA, and the
documentation lists them under `PYTORCH_ALLOC_CONF`. If both are set the old name wins, so a change under the new name
has no effect. Older releases do not have the new name.

The rule reports the first for PyTorch 2.8 or later, and the second for 2.10 or later. It takes the version from the
target, or from the image of the container, and is silent without one.

Remove the first, rename the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at, remove_variable, rename_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import since
from trainyard.model.run import Setting

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
    """A variable that is obsolete or renamed."""
    if setting.name not in (RECORD_STREAMS, ALLOCATOR):
        return
    release = versions.torch(context)
    if setting.name == RECORD_STREAMS and since(release.version, ALWAYS_SINCE):
        yield Problem(
            name_at(setting),
            f"{RECORD_STREAMS} has no effect: since PyTorch 2.8 its behaviour is always on",
            "remove it",
            remove_variable(setting),
            rests_on=release,
        )
    if setting.name == ALLOCATOR and since(release.version, SURELY_RENAMED_SINCE):
        both = context.container is not None and context.container.setting(NEW_ALLOCATOR) is not None
        yield Problem(
            name_at(setting),
            f"{ALLOCATOR} is deprecated and overrides {NEW_ALLOCATOR}",
            f"write {NEW_ALLOCATOR}",
            () if both else rename_variable(setting, NEW_ALLOCATOR),
            rests_on=release,
        )
