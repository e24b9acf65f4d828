"""The variable is newer than the NCCL release of this run, which ignores it without a message.

NCCL never reports names that it does not know. A setting copied from newer documentation has no effect on an older
release, and `NCCL_DEBUG=INFO` gives no hint either: a variable that NCCL read appears as "set by environment", a
variable that it did not read does not appear.

The rule needs to know the release, which it takes from the `target` of the configuration, or else from the image: its
name and tag tell the NCCL of pytorch/pytorch, of NGC and of others. If the sources and the
documentation name different first releases, the earlier one counts.

Use an image with the newer NCCL, or remove the variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import name_at
from trainyard.analysis.resources.devices import uses_rccl
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import registry
from trainyard.facts.versions import before
from trainyard.model.run import Setting


@rule(
    code="NC002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.3.5-5 to v2.30.7-1: first tag whose src/ reads the name; docs/userguide/source/env.rst",
        "nvidia-nccl-cu13 2.31.2 and 2.32.3: names in .rodata of libnccl.so.2",
    ),
    needs=("NCCL_",),
)
def nccl_env_newer_than_target(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that the target's NCCL does not have yet."""
    variable = registry.nccl_variables().get(setting.name)
    if variable is None:
        return
    known = [version for version in (variable.first, variable.since) if version is not None]
    release = versions.nccl(context)
    if known and before(release.version, min(known)) and not uses_rccl(context.run):
        yield Problem(
            name_at(setting),
            f"NCCL {release} ignores {setting.name}, which was added in {_text(min(known))}",
            f"use an image with NCCL {_text(min(known))} or later, or remove the variable",
            rests_on=release,
        )


def _text(version: registry.Version) -> str:
    return ".".join(str(part) for part in version)
