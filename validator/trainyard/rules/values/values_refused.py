"""The chart refuses this value: `helm install` ends with an error, and nothing is created.

Values have types and bounds, which the chart's `values.schema.json` says; some are refused by the templates, because
the run could never start or would silently do something else. `nodes: four` is no integer; `env.RANK` is set by the
training operator in every pod, so a value of yours would be lost; a name that is in `env` and in `envSecrets` cannot be
both; a `podAntiAffinity` of your own and `placement.spread` contradict each other.

Helm reports these when the run is submitted, often without a line number, and stops at the first fault of a template.
While such a fault is in the values the chart renders nothing, so no other rule has looked at the run yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.rule import Problem, rule

if TYPE_CHECKING:
    from validator.roads.values import ValuesDocument


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
    """A value with which Helm renders nothing."""
    for fault in document.faults():
        if fault.kind == "wrong value":
            yield Problem(document.place(fault.path), fault.message)
