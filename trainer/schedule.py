"""The learning rate of each step.

A function of the step alone: there is nothing to save, and nothing that a changed number of ranks could disturb. The
global batch stays the same when ranks come or go, and so does the learning rate.
"""

import math

from trainer.config import OptimizationConfig


def learning_rate(config: OptimizationConfig, step: int, steps: int) -> float:
    """Of step `step` of `steps`, the first being 1."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup_steps) / max(1, steps - config.warmup_steps)
    return config.learning_rate * (1 + math.cos(math.pi * min(1.0, done))) / 2
