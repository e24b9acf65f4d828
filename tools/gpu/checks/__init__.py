"""All checks, in the order in which they run: what others build on comes first."""

from __future__ import annotations

from tools.gpu.check import Check
from tools.gpu.checks import checkpoints, collectives, faults, names, nodes, recipes, speed, strategies

ALL: tuple[Check, ...] = (
    *names.CHECKS,
    *collectives.CHECKS,
    *nodes.CHECKS,
    *strategies.CHECKS,
    *checkpoints.CHECKS,
    *faults.CHECKS,
    *recipes.CHECKS,
    *speed.CHECKS,
)
