"""`overcommit-factor` of Volcano's scheduler is below 1, so the scheduler takes its default of 1.2 in place of it.

The plugin `overcommit` admits jobs to the queue until their requests exceed the resources of the cluster by the factor.
A factor below 1 is not accepted: the scheduler logs a warning and lets in more than with 1. It cannot keep a part of
the cluster free.

Write 1 or more. The `capability` of a queue limits what its jobs use.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import volcano_plugins
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_FACTOR = "overcommit-factor"


@rule(
    code="QU026",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/scheduler/plugins/overcommit/overcommit.go: OnSessionOpen",
        "github.com/volcano-sh/volcano pull 1267",
    ),
    needs=(_FACTOR,),
)
def volcano_overcommit_below_one(resource: Resource) -> Iterator[Problem]:
    """Report factors that the scheduler replaces."""
    for plugin, at in volcano_plugins(resource):
        factor = mapping(plugin, "arguments").get(_FACTOR)
        if text(plugin, "name") == "overcommit" and isinstance(factor, int | float) and factor < 1:
            yield Problem(
                at.child("arguments", _FACTOR),
                f"{_FACTOR} is {factor}: Volcano takes no factor below 1, and uses 1.2",
                "write 1.0 or more",
            )
