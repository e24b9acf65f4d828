"""The times and the length of evaluations."""

from __future__ import annotations

from dataclasses import dataclass

from .option import option


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """Evaluations at the end of every epoch and of the run, and at the interval of these fields."""

    eval_steps: int = option(
        0, "also evaluate every N steps (0: at the end of an epoch and of the run only)", at_least=0
    )
    eval_batches: int = option(0, "evaluate the first N batches of the test data (0: all)", at_least=0)
