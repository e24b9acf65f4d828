"""A variable that the fabric needs is missing or has another value, so NCCL takes a slower path or does not start.

Each fabric profile (`--profile eks-efa`, or `profile:` in the configuration) holds what its provider asks of every
training container, with the source. A required variable is one without which the provider's NCCL plugin is not found,
finds no devices, or falls back to TCP: the job then runs several times slower, or hangs in its first collective.

The rule looks at the training containers that ask for accelerators; `mpirun -x` in the launcher of an MPIJob counts for
its workers. Variables from a Secret, from a ConfigMap that is not among the files, or from a file that the script reads
with `source` are taken as right. Images that set the variables themselves (ENV in the
Dockerfile) cannot be seen: allow the rule for such a run, with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.fabric import deviations
from validator.facts.profiles import profile
from validator.model import Role
from validator.rule import Append, Context, Edit, Problem, SetValue, rule


@rule(
    code="FB001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("validator/profiles: each profile names the provider's document it was taken from",),
    fix="unsafe",
    of_profile=True,
)
def fabric_setting_required(role: Role, context: Context) -> Iterator[Problem]:
    """A required variable that is not what the profile says."""
    if context.profile is None:
        return
    fabric = profile(context.profile)
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
