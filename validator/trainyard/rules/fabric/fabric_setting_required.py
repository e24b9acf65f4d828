"""A variable that the fabric requires is missing or wrong, so NCCL takes a slower path or does not start.

Each fabric profile (`--profile eks-efa`, or `profile:` in the configuration) holds the settings that its provider
requires in every training container, with the source. Without a required variable the provider's NCCL plugin is not
found, finds no devices, or falls back to TCP: the job then runs several times slower, or hangs in its first
collective.

The rule checks the training containers that request accelerators; `mpirun -x` in the launcher of an MPIJob counts for
its workers. It assumes that variables are right when they come from a Secret, from a ConfigMap that is not among the
files, or from a file that the script reads with `source`. It cannot see variables that the image sets itself (ENV in
the Dockerfile): allow the rule for such a run, with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.fabric import deviations
from trainyard.document.document import Append, Edit, SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.profiles import load_profile
from trainyard.model.run import Role


@rule(
    code="FB001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("charts/common/files/fabric: each profile names the provider's document it was taken from",),
    fix="unsafe",
    of_profile=True,
)
def fabric_setting_required(role: Role, context: Context) -> Iterator[Problem]:
    """Report a required variable that differs from the profile."""
    if context.profile is None:
        return
    fabric = load_profile(context.profile)
    for container, wanted, setting in deviations(role, fabric.required, context):
        entry = {"name": wanted.name, "value": wanted.value}
        edits: tuple[Edit, ...] = ()
        if setting is None:
            at, fault = container.at.child("env").key(), "is not set"
            edits = (Append(container.at.child("env"), entry),) if wanted.value is not None else ()
        else:
            at, fault = setting.at, f"is `{setting.value}`"
            edits = (SetValue(at, wanted.value),) if setting.via == "env" else ()
        value = f"`{wanted.value}`" if wanted.value is not None else "a value"
        yield Problem(
            at,
            f"{wanted.name} {fault}, and {fabric.title} needs {value}",
            f"set it as {fabric.source} says",
            edits,
        )
