"""PyTorch 2.2 gave its own NCCL variables the prefix `TORCH_`; the names without it are aliases that will go.

`NCCL_ASYNC_ERROR_HANDLING`, `NCCL_BLOCKING_WAIT`, `NCCL_DESYNC_DEBUG`, `NCCL_ENABLE_TIMING` and
`NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK` were never read by NCCL: they belong to torch.distributed. Since 2.2 each has
a name that begins with `TORCH_NCCL_`. The old one still works, with a line in the log of every rank that it is
deprecated. Where both are set the new name wins, so that a changed value under the old one has no effect.

Targets before 2.2 know the old names only and are left alone.

Put `TORCH_` in front of the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped, name_at, renamed
from validator.facts.torch_variables import LEGACY
from validator.model import Setting
from validator.rule import Context, Problem, rule

RENAMED_SINCE = (2, 2)


@rule(
    code="TD001",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp: TORCH_NCCL_BLOCKING_WAIT and others",
        "pytorch 2.15.0 torch/csrc/distributed/c10d/Utils.hpp: getCvarInt, getCvarBool",
    ),
    fix="safe",
    needs=("NCCL_",),
)
def torch_nccl_legacy_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable of torch.distributed under its old name."""
    name = LEGACY.get(setting.name)
    if name is None or context.container is None:
        return
    if context.target.torch is not None and context.target.torch < RENAMED_SINCE:
        return
    newer = context.container.setting(name)
    if newer is not None:
        yield Problem(
            name_at(setting),
            f"{setting.name} has no effect: {name} is set as well",
            f"remove {setting.name}",
            dropped(setting),
            ((newer.at, "this value counts"),),
        )
        return
    yield Problem(
        name_at(setting),
        f"{setting.name} is a deprecated alias since PyTorch 2.2",
        f"write {name}",
        renamed(setting, name),
    )
