"""The chart rejects this value: `helm install` ends with an error, and nothing is created.

The chart's `values.schema.json` defines types and bounds of the values. The templates reject further values with which
the run could never start or would silently do something else. `nodes: four` is not an integer. The training operator
sets `env.RANK` in every pod, so a value of yours would be lost. A name cannot be both in `env` and in `envSecrets`.
Your own `podAntiAffinity` and `placement.spread` contradict each other.

Helm reports these faults when the run is submitted, often without a line number, and stops at the first fault of a
template. Until the fault is fixed the chart renders nothing, so no other rule has checked the run yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.engine.rule import Problem, rule

if TYPE_CHECKING:
    from trainyard.loaders.training_job.values import ValuesDocument


@rule(
    code="HV010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "charts/training-job/values.schema.json: types, patterns and bounds of the values",
        "charts/training-job/templates: every `fail`",
    ),
)
def values_refused(document: ValuesDocument) -> Iterator[Problem]:
    """Report a value that the chart's schema or templates reject."""
    for fault in document.faults():
        if fault.kind == "wrong value":
            yield Problem(document.place(fault.path), fault.message, fault.help)
