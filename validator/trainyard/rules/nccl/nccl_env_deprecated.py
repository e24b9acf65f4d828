"""The variable is deprecated, and a future NCCL release may drop it without a message.

NCCL 2.17 replaced `NCCL_MAX_NCHANNELS` and `NCCL_MIN_NCHANNELS` (and their older names with `NRINGS`) with
`NCCL_MAX_CTAS` and `NCCL_MIN_CTAS`. If both are set, the lower maximum and the higher minimum are used.
`NCCL_LAUNCH_MODE=GROUP` is deprecated since 2.9, and `NCCL_CHECK_POINTERS` since 2.29.7 in favour of
`NCCL_CHECK_MODE=DEBUG_LOCAL`.

Except for the launch mode, the rule needs to know the release, from the target or from the image of the container. It
ignores containers with settings of Google's FastRak plugin, whose checker asks for `NCCL_MIN_NCHANNELS` by
name, and runs on AMD GPUs.

The fix renames a channel variable and keeps its value. It is not a safe fix: `NCCL_MAX_CTAS` and `NCCL_MIN_CTAS` also
override the values that the program passes when it creates a communicator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.analysis.resources.devices import uses_rccl
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.registry import Version
from trainyard.facts.nccl.releases import has_reached
from trainyard.model.run import Setting

SUCCESSORS: dict[str, tuple[Version, str]] = {
    "NCCL_CHECK_POINTERS": ((2, 29, 7), "NCCL_CHECK_MODE=DEBUG_LOCAL"),
    "NCCL_MAX_NCHANNELS": ((2, 17), "NCCL_MAX_CTAS"),
    "NCCL_MAX_NRINGS": ((2, 17), "NCCL_MAX_CTAS"),
    "NCCL_MIN_NCHANNELS": ((2, 17), "NCCL_MIN_CTAS"),
    "NCCL_MIN_NRINGS": ((2, 17), "NCCL_MIN_CTAS"),
}
WANTS_OLD_NAMES = ("NCCL_FASTRAK_", "NCCL_SHIMNET_")


@rule(
    code="NC004",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_MAX_NCHANNELS, NCCL_LAUNCH_MODE",),
    fix="unsafe",
    needs=("NCCL_LAUNCH_MODE", *SUCCESSORS),
)
def nccl_env_deprecated(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that is deprecated since a known release."""
    container = context.container
    if uses_rccl(context.run):
        return
    if setting.name == "NCCL_LAUNCH_MODE" and setting.value == "GROUP":
        yield Problem(
            setting.at, "NCCL_LAUNCH_MODE=GROUP is deprecated since NCCL 2.9", "remove it: PARALLEL is the default"
        )
    since, successor = SUCCESSORS.get(setting.name, (None, ""))
    if since is None or container is None:
        return
    release = versions.nccl(context)
    if not has_reached(release.version, since):
        return
    if any(other.name.startswith(WANTS_OLD_NAMES) for other in container.settings):
        return
    name, given, _ = successor.partition("=")
    is_free = not given and container.setting(name) is None
    version = ".".join(str(part) for part in since)
    yield Problem(
        name_at(setting),
        f"{setting.name} is deprecated since NCCL {version}",
        f"write {successor}",
        rename_variable(setting, name) if is_free else (),
        rests_on=release,
    )
