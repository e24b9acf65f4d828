"""A plugin of the scheduler is enabled beside the one that it is to replace, which stays enabled by default.

kube-scheduler enables its own plugins in every profile unless the profile disables them. It takes one plugin that sorts
the queue: with `Coscheduling` beside `PrioritySort` it ends with "only one queue sort plugin required ... but got 2".
`CapacityScheduling` and `PreemptionToleration` choose the pods to preempt by their own rules. `DefaultPreemption`
beside them preempts pods without regard for quotas and tolerations.

Plugins that preempt are reported where `postFilter` enables them.

Disable the other plugin at the same point of the profile: `disabled: [{name: "*"}]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.scheduler_configurations import KUBE_SCHEDULER, profiles_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_ALL_POINTS = "multiPoint"
# The point of each plugin, the plugin that it replaces there, and what happens with both.
_REPLACED = {
    "Coscheduling": ("queueSort", "PrioritySort", "the scheduler takes only one plugin that sorts the queue, and ends"),
    "CapacityScheduling": ("postFilter", "DefaultPreemption", "pods are preempted without regard for the quotas"),
    "PreemptionToleration": ("postFilter", "DefaultPreemption", "pods are preempted in spite of their toleration"),
}


@rule(
    code="QU025",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/scheduler/framework/runtime/framework.go: NewFramework, expandMultiPointPlugins, "
        "RunPostFilterPlugins",
        "kubernetes-sigs/scheduler-plugins v0.31.8 manifests/coscheduling and manifests/capacityscheduling: "
        "scheduler-config.yaml",
        "github.com/kubernetes-sigs/scheduler-plugins pull 50",
    ),
    needs=(KUBE_SCHEDULER,),
)
def scheduler_plugins_conflict(resource: Resource) -> Iterator[Problem]:
    """Report plugins beside the ones that they replace."""
    for profile, at in profiles_of(resource):
        plugins, place = mapping(profile, "plugins"), at.child("plugins")
        for name, (point, other, consequence) in _REPLACED.items():
            enabled = _enabled(plugins, name, point, place)
            if enabled is not None and not _is_disabled(plugins, other, point):
                message = f"{name} is enabled at {point} and {other} stays enabled: {consequence}"
                yield Problem(enabled, message, f"disable {other} at {point}")


def _enabled(plugins: dict[str, Any], name: str, point: str, at: Place) -> Place | None:
    """Returns the place where a plugin is enabled at a point, None if it is not.

    The chart of the plugins enables all at `multiPoint`. Without quotas, those that preempt are of no use there.
    """
    for field in (point, _ALL_POINTS) if point == "queueSort" else (point,):
        for index, plugin in enumerate(items(plugins, field, "enabled")):
            if text(plugin, "name") == name:
                return at.child(field, "enabled", index, "name")
    return None


def _is_disabled(plugins: dict[str, Any], name: str, point: str) -> bool:
    disabled = (text(plugin, "name") for field in (point, _ALL_POINTS) for plugin in items(plugins, field, "disabled"))
    return any(one in ("*", name) for one in disabled)
