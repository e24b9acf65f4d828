"""NCCL documents this variable for debugging; it should not be set in production.

More than half of NCCL's documented variables are in the section "Debugging". The documentation says that they should
not be used in production or kept in scripts, or that they are a workaround until a fault is fixed. They pin a choice
that NCCL otherwise makes for each machine and release: chunk sizes, numbers of channels, transports, relaxed ordering.
A value that was right for one release and one type of node stays in the manifest and costs bandwidth, or stability, on
the next.

The rule ignores variables that the fabric profile asks for.

Remove the variable, or suppress this rule and note why it is there and until when.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.registry import nccl_variables
from trainyard.facts.profiles import asks_for
from trainyard.model.run import Setting


@rule(
    code="NC033",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: section Debugging",),
    needs=("NCCL_",),
)
def nccl_debugging_section_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable from the section "Debugging"."""
    variable = nccl_variables().get(setting.name) if setting.name.startswith("NCCL_") else None
    if variable is None or variable.section != "debugging" or asks_for(context.profile, setting.name):
        return
    yield Problem(
        setting.at,
        f"NCCL documents {setting.name} for debugging, not for production",
        "remove it, or suppress this rule with the reason",
    )
