"""A variable that the fabric's provider recommends is missing or different, so bandwidth is left unused.

Each fabric profile holds the values that its provider measured as best: channel counts, chunk sizes, queue pairs,
adaptive routing. NCCL works without them and stays below the bandwidth that the provider states; on some fabrics by
half. The rule looks at training containers that ask for accelerators and reports what differs from the profile.

A value that was measured to be better on your machines is a good reason to allow this rule for a run: write the figure
into the reason. Variables from Secrets and unknown ConfigMaps are taken as right.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.fabric import deviations
from validator.facts.profiles import profile
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="FB002",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("validator/profiles: each profile names the provider's document it was taken from",),
    of_profile=True,
)
def fabric_setting_recommended(role: Role, context: Context) -> Iterator[Problem]:
    """A recommended variable that is not what the profile says."""
    if context.profile is None:
        return
    fabric = profile(context.profile)
    for container, wanted, setting in deviations(role, fabric.recommended, context):
        at = container.at.child("env").key() if setting is None else setting.at
        fault = "is not set" if setting is None else f"is `{setting.value}`"
        best = "needs a value of its own" if wanted.value is None else f"runs best with `{wanted.value}`"
        yield Problem(
            at,
            f"{wanted.name} {fault}; {fabric.title} {best}",
            f"set it as {fabric.source} says, or allow this with the figure you measured",
        )
