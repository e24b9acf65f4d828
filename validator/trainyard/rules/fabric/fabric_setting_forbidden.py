"""A variable is set that must be left alone on this fabric.

Some of NCCL's variables make sense on one fabric and do harm on another: TCP tuning on EFA, a fixed GID index where the
index differs from pod to pod. They usually come along when a manifest moves from one cloud to another, and the
result is a hang in the first collective or a transport that is never used. Each fabric profile (`--profile`) lists
those that its provider, or NCCL's own documentation, asks to leave unset, with the reason.

Remove the variable. The rule looks at the training containers that ask for accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.fabric import accelerated
from validator.aspects.settings import dropped
from validator.facts.profiles import profile
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="FB003",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("validator/profiles: each profile names the provider's document it was taken from",),
    fix="unsafe",
    of_profile=True,
)
def fabric_setting_forbidden(role: Role, context: Context) -> Iterator[Problem]:
    """A variable that the profile forbids."""
    container = accelerated(role)
    if context.profile is None or container is None:
        return
    fabric = profile(context.profile)
    unwanted = {entry.name: entry.why for entry in fabric.forbidden}
    for setting in container.settings:
        if setting.name in unwanted:
            yield Problem(
                setting.at,
                f"{setting.name} must not be set on {fabric.title}: {unwanted[setting.name]}",
                "remove it",
                dropped(setting),
            )
