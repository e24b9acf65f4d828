"""The variable must not be set on this fabric.

Some NCCL variables make sense on one fabric and do harm on another: TCP tuning on EFA, or a fixed GID index where the
index differs between pods. They are usually left over when a manifest moves from one cloud to another. The result is a
hang in the first collective or a transport that is never used. Each fabric profile (`--profile`) lists the variables
that its provider, or NCCL's own documentation, asks to leave unset, with the reason.

Remove the variable. The rule checks the training containers that request accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.fabric import accelerated_container
from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.profiles import load_profile
from trainyard.model.run import Role


@rule(
    code="FB003",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("charts/common/files/fabric: each profile names the provider's document it was taken from",),
    fix="unsafe",
    of_profile=True,
)
def fabric_setting_forbidden(role: Role, context: Context) -> Iterator[Problem]:
    """Report a variable that the profile forbids."""
    container = accelerated_container(role)
    if context.profile is None or container is None:
        return
    fabric = load_profile(context.profile)
    unwanted = {entry.name: entry.why for entry in fabric.forbidden}
    for setting in container.settings:
        if setting.name in unwanted:
            yield Problem(
                setting.at,
                f"{setting.name} must not be set on {fabric.title}: {unwanted[setting.name]}",
                "remove it",
                remove_variable(setting),
            )
