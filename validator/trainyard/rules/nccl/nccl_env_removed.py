"""NCCL no longer reads this variable, so it has no effect.

NCCL treats a name that was removed like any unknown name: there is no message. `NCCL_IB_CUDA_SUPPORT` was removed in
2.4, `NCCL_LL_THRESHOLD`, `NCCL_TREE_THRESHOLD` and `NCCL_RINGS` in 2.5; they live on in copied settings.
`NCCL_CHECKS_DISABLE`, which the documentation calls deprecated, has not been read by any release since 2.3.

If the release is unknown, the rule reports only names that were gone by 2.10. With a `target`, or an image with a
known NCCL, it also reports later ones, such as `NCCL_WORK_FIFO_DEPTH` (gone after 2.21) and `NCCL_PROXY_PROFILE`
(after 2.22).

Remove the variable, or use its successor.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at, remove_variable
from trainyard.analysis.resources.devices import uses_rccl
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import registry
from trainyard.facts.nccl.releases import is_past
from trainyard.model.run import Setting

INSTEAD = {
    "NCCL_GRAPH": "NCCL_GRAPH_FILE",
    "NCCL_IB_CUDA_SUPPORT": "NCCL_NET_GDR_LEVEL",
    "NCCL_IB_GDR_LEVEL": "NCCL_NET_GDR_LEVEL",
    "NCCL_LL_THRESHOLD": "NCCL_PROTO",
    "NCCL_MNNVL": "NCCL_MNNVL_ENABLE",
    "NCCL_PROXY_PROFILE": "NCCL_PROFILER_PLUGIN",
    "NCCL_RINGS": "NCCL_GRAPH_FILE",
    "NCCL_TREE_THRESHOLD": "NCCL_ALGO",
    "NCCL_WORK_FIFO_DEPTH": "NCCL_WORK_FIFO_BYTES",
}
# The name is in the documentation only: it was gone before the first release whose sources were read.
LONG_GONE: registry.Version = (2, 2)


@rule(
    code="NC003",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.3.5-5 to v2.30.7-1: last tag whose src/ reads the name; docs/userguide/source/env.rst",
        "nvidia-nccl-cu13 2.31.2 and 2.32.3: names in .rodata of libnccl.so.2",
    ),
    fix="safe",
    needs=("NCCL_",),
)
def nccl_env_removed(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that was removed from the target's NCCL."""
    variable = registry.nccl_variables().get(setting.name)
    last = None if variable is None else variable.last or LONG_GONE
    if last is None or last >= registry.NEWEST or uses_rccl(context.run):
        return
    release = versions.nccl(context)
    if not is_past(release.version, last):
        return
    until = (
        f"{last[0]}.{last[1]} was the last release to read it" if last > LONG_GONE else "no release since 2.3 reads it"
    )
    instead = INSTEAD.get(setting.name)
    yield Problem(
        name_at(setting),
        f"{setting.name} has no effect: {until}",
        f"remove it; {instead} is its successor" if instead else "remove it",
        remove_variable(setting),
        rests_on=None if is_past(None, last) else release,
    )
