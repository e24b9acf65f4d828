"""`max_split_size_mb` has no effect on splitting while `expandable_segments` is on.

Both options of `PYTORCH_CUDA_ALLOC_CONF` reduce fragmentation, but they do not add up. An allocator with expandable
segments maps physical pages into one growing segment per stream. It splits a block before it looks at
`max_split_size_mb`, so tuning the size has no effect.

Remove `max_split_size_mb`. It is useful only where `expandable_segments` is off.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting

NAMES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


@rule(
    code="TD021",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.9 c10/cuda/CUDACachingAllocator.cpp: should_split returns early with expandable_segments",
        "github.com/awslabs/awsome-distributed-ai pull 1091",
    ),
    fix="safe",
    needs=("_ALLOC_CONF",),
)
def cuda_alloc_conf_conflict(setting: Setting) -> Iterator[Problem]:
    """Two options of the allocator, of which one has no effect."""
    value = literal_value(setting) if setting.name in NAMES else None
    options = [one.partition(":") for one in (value or "").split(",")]
    names = {name.strip(): state.strip() for name, _, state in options}
    if names.get("expandable_segments", "").lower() == "true" and "max_split_size_mb" in names:
        left = ",".join("".join(one) for one in options if one[0].strip() != "max_split_size_mb")
        yield Problem(
            setting.at,
            "max_split_size_mb does not limit splitting, because expandable_segments is on",
            f"write `{left}`",
            change_value(setting, left),
        )
