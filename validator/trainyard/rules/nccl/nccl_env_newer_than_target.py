"""The variable came with a later NCCL than the one that the run will meet, which ignores it in silence.

NCCL never lists the names that it does not know. A setting that is taken over from newer documentation has no effect
on an older release, and `NCCL_DEBUG=INFO` does not show that it is missing either: a set variable that was read
appears as "set by environment", one that was not read does not appear.

The rule needs to know the release: it comes from the `target` of the configuration. Where the sources and the
documentation differ about the first release, the earlier one counts.

Take an image with the newer NCCL, or remove the variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.rccl import uses_rccl
from validator.aspects.settings import name_at
from validator.facts import nccl
from validator.model import Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.3.5-5 to v2.30.7-1: first tag whose src/ reads the name; docs/userguide/source/env.rst",),
    needs=("NCCL_",),
)
def nccl_env_newer_than_target(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that the target's NCCL does not know yet."""
    target, variable = context.target.nccl, nccl.variables().get(setting.name)
    if target is None or variable is None or uses_rccl(context.run):
        return
    known = [version for version in (variable.first, variable.since) if version is not None]
    if known and min(known)[: len(target)] > target:
        yield Problem(
            name_at(setting),
            f"NCCL {_text(target)} ignores {setting.name}: it came with {_text(min(known))}",
            f"use an image with NCCL {_text(min(known))} or later, or remove the variable",
        )


def _text(version: nccl.Version) -> str:
    return ".".join(str(part) for part in version)
