"""A variable that the fabric's provider recommends is missing or different, so bandwidth stays unused.

Each fabric profile holds the values that its provider measured as best: channel counts, chunk sizes, queue pairs,
adaptive routing. NCCL works without them but stays below the provider's stated bandwidth, on some fabrics by half. The
rule checks the training containers that request accelerators and reports differences from the profile.

If you measured a better value on your machines, allow this rule for the run and write the figure into the reason. The
rule assumes that variables from Secrets and unknown ConfigMaps are right.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.fabric import deviations
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.profiles import load_profile
from trainyard.model.run import Role


@rule(
    code="FB002",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("charts/common/files/fabric: each profile names the provider's document it was taken from",),
    of_profile=True,
)
def fabric_setting_recommended(role: Role, context: Context) -> Iterator[Problem]:
    """Report a recommended variable that differs from the profile."""
    if context.profile is None:
        return
    fabric = load_profile(context.profile)
    for container, wanted, setting in deviations(role, fabric.recommended, context):
        at = container.at.child("env").key() if setting is None else setting.at
        fault = "is not set" if setting is None else f"is `{setting.value}`"
        best = "needs a value of its own" if wanted.value is None else f"runs best with `{wanted.value}`"
        yield Problem(
            at,
            f"{wanted.name} {fault}; {fabric.title} {best}",
            f"set it as {fabric.source} says, or allow this with the figure you measured",
        )
