"""Where the ranks run that a variable is meant for."""

from __future__ import annotations

from validator.model import Role
from validator.rule import Context


def role_of(context: Context) -> Role | None:
    """The role whose pods hold the ranks: the variable's own, or for a launcher's the one that it starts them in."""
    run, role = context.run, context.role
    if run is None or role is None or role.trains:
        return role
    return next(iter(run.training_roles), None)
