"""Volcano's scheduler has no action or plugin of this name, so it drops the configuration, or works without the part.

`actions` is a list with commas. With an action that does not exist, the scheduler logs an error and goes on with its
default configuration, or with the last one that it could read. Some releases leave out the action alone: without
`allocate` no pod is placed. A plugin that does not exist is left out in each cycle, with an error in the log.

Companies build plugins of their own, so the rule reports plugins whose names resemble a known one.

Write the name that the message gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import volcano_configurations, volcano_plugins
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.volcano_scheduler import ACTIONS, PLUGINS
from trainyard.model.run import Resource


@rule(
    code="QU027",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/scheduler/util.go: UnmarshalSchedulerConf; pkg/scheduler/actions/factory.go",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/framework: OpenSession; pkg/scheduler/plugins/factory.go",
        "github.com/volcano-sh/volcano issue 4660",
    ),
    needs=("volcano-scheduler",),
)
def volcano_scheduler_name_unknown(resource: Resource) -> Iterator[Problem]:
    """Report names that the scheduler does not know."""
    for tree, at in volcano_configurations(resource):
        named = [name.strip() for name in text(tree, "actions").split(",")]
        unknown = next((name for name in named if name and name not in ACTIONS), None)
        if unknown is not None:
            near = closest_match(unknown, ACTIONS, 0.7)
            several = len(unknown.split()) > 1
            yield Problem(
                at.child("actions"),
                f"Volcano's scheduler has no action `{unknown}`, and does not take the configuration",
                "separate actions with commas" if several else f"did you mean `{near}`?" if near else "remove it",
            )
    for plugin, at in volcano_plugins(resource):
        name = text(plugin, "name")
        near = closest_match(name, PLUGINS, 0.85) if name and name not in PLUGINS else None
        if near is not None:
            message = f"Volcano's scheduler has no plugin `{name}`, and works without it"
            yield Problem(at.child("name"), message, f"did you mean `{near}`?")
