"""The PyTorch of the image does not read this setting of the allocator from `PYTORCH_ALLOC_CONF`.

PyTorch has this name since 2.9. Older releases know `PYTORCH_CUDA_ALLOC_CONF` alone and ignore the new name, without a
message. In 2.9, the allocator of CUDA does not read `expandable_segments` under the new name. The job then runs out of
memory by fragmentation, as if nothing was set.

The rule needs the version of PyTorch, from the target or from the image of the container.

Write `PYTORCH_CUDA_ALLOC_CONF`, which all releases read.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Setting

NEW, OLD = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"
FIRST, COMPLETE = (2, 9), (2, 10)


@rule(
    code="TD050",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.9 c10/core/AllocatorConfig.cpp: PYTORCH_ALLOC_CONF",
        "github.com/pytorch/pytorch issue 183387: expandable_segments in 2.9.1",
    ),
    fix="unsafe",
    needs=(NEW,),
)
def alloc_conf_not_read(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report settings of the allocator under a name that is too new."""
    if setting.name != NEW or not setting.value:
        return
    container = context.container
    # The old name wins where both are set.
    if container is not None and container.setting(OLD) is not None:
        return
    release = versions.torch(context)
    unknown = before(release.version, FIRST)
    if unknown or (before(release.version, COMPLETE) and "expandable_segments" in setting.value):
        lost = "this variable" if unknown else "expandable_segments in this variable"
        yield Problem(
            name_at(setting),
            f"PyTorch {'before 2.9' if unknown else '2.9'} does not read {lost}: {setting.name} has no effect",
            f"write {OLD}",
            rename_variable(setting, OLD),
            rests_on=release,
        )
