"""NCCL documents this variable for debugging: it is not meant to be set in production.

More than half of NCCL's documented variables stand in the section "Debugging", with the words that they should not be
used in production nor kept in scripts, or only as a way round a fault until it is mended. They fix a choice that NCCL
makes anew for each machine and release: chunk sizes, numbers of channels, transports, relaxed ordering. A value that
was right for one release and one type of node stays in the manifest and costs bandwidth, or stability, on the next.

Variables that the profile of the fabric asks for are left alone.

Remove it, or suppress this rule with the reason why it is there and until when.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.nccl import variables
from validator.facts.profiles import asks_for
from validator.model import Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC033",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: section Debugging",),
    needs=("NCCL_",),
)
def nccl_debugging_section_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable for debugging."""
    variable = variables().get(setting.name) if setting.name.startswith("NCCL_") else None
    if variable is None or variable.section != "debugging" or asks_for(context.profile, setting.name):
        return
    yield Problem(
        setting.at,
        f"NCCL documents {setting.name} for debugging, not for production",
        "remove it, or say why it is needed",
    )
