"""The learning rate schedule.

The learning rate depends on the step alone. The schedule has no state to save, and a change of the world size does not
affect it, because the global batch size stays the same.
"""

from __future__ import annotations

import math

from .config import OptimizationConfig


def learning_rate_at(config: OptimizationConfig, step: int, steps: int) -> float:
    """Returns the learning rate of step `step` of `steps`, counted from 1."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup_steps) / max(1, steps - config.warmup_steps)
    lowest = config.min_learning_rate
    return lowest + (config.learning_rate - lowest) * (1 + math.cos(math.pi * min(1.0, done))) / 2
