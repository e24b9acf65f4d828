"""The variable is a deprecated alias: PyTorch 2.2 added the prefix `TORCH_` to its own NCCL variables.

NCCL never read `NCCL_ASYNC_ERROR_HANDLING`, `NCCL_BLOCKING_WAIT`, `NCCL_DESYNC_DEBUG`, `NCCL_ENABLE_TIMING` and
`NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK`: they belong to torch.distributed. Since 2.2 each has a name that begins with
`TORCH_NCCL_`. The old name still works, with a deprecation warning in the log of every rank, and will be removed. If
both are set the new name wins, so a value under the old name has no effect.

PyTorch 2.1 and older know only the old names. The rule therefore speaks only if the version is known: from the target,
or from the image of the container. The fix is safe for a target.

Put `TORCH_` in front of the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at, remove_variable, rename_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.torch_variables import LEGACY
from trainyard.facts.versions import since
from trainyard.model.run import Setting

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
    needs=tuple(LEGACY),
)
def torch_nccl_legacy_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable of torch.distributed under its old name."""
    name = LEGACY.get(setting.name)
    if name is None or context.container is None:
        return
    release = versions.torch(context)
    if not since(release.version, RENAMED_SINCE):
        return
    newer = context.container.setting(name)
    if newer is not None:
        yield Problem(
            name_at(setting),
            f"{setting.name} has no effect because {name} is also set",
            f"remove {setting.name}",
            remove_variable(setting),
            ((newer.at, "PyTorch uses this value"),),
            release,
        )
        return
    yield Problem(
        name_at(setting),
        f"{setting.name} is a deprecated alias since PyTorch 2.2",
        f"write {name}",
        rename_variable(setting, name),
        rests_on=release,
    )
