"""The job is sent to a Volcano queue that has queues below it, and Volcano takes jobs for the lowest ones alone.

With `enableHierarchy: true` of the plugin `capacity`, queues form a tree below `root`. The webhook then refuses a job
for `root`, and for a queue that is the `parent` of another one: "can only submit job to leaf queue".

The rule applies if the scheduler's configuration in the files has the hierarchy, or if the files have none.

Name one of the queues below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import volcano_plugins
from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.objects.folders import NESTED, distance
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Run

_ROOT = "root"


@rule(
    code="QU038",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/volcano-sh/volcano pull 3743",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: root queue and child queues",
    ),
    needs=("scheduling.volcano.sh",),
)
def volcano_queue_has_children(run: Run, context: Context) -> Iterator[Problem]:
    """Report jobs for queues that are the parents of others."""
    name = text(run.spec, "queue") if is_volcano(run) else ""
    below = [one for one in _children.of(context.project).get(name, []) if distance(one.at, run.at) <= NESTED]
    if not below or name == _ROOT or not _has_hierarchy.of(context.project):
        return
    names = ", ".join(f"`{one.name}`" for one in below[:4])
    yield Problem(
        run.at.child("spec", "queue"),
        f"queue `{name}` is the parent of {names}, and Volcano refuses jobs for a queue with child queues",
        f"write `{below[0].name}`" if len(below) == 1 else "name one of the child queues",
        related=tuple((one.at.child("spec", "parent"), f"{one.name} is below it") for one in below[:4]),
    )


def _find_children(project: Project) -> dict[str, list[Resource]]:
    found: dict[str, list[Resource]] = {}
    for one in project.of_kind("Queue"):
        if group_of(one.api_version) == "scheduling.volcano.sh":
            found.setdefault(text(one.tree, "spec", "parent"), []).append(one)
    found.pop("", None)
    return found


def _find_hierarchy(project: Project) -> bool:
    plugins = [plugin for one in project.of_kind("ConfigMap") for plugin, _ in volcano_plugins(one)]
    return not plugins or any(plugin.get("enableHierarchy") is True for plugin in plugins)


_children: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_find_children)
_has_hierarchy: LastIndex[Project, bool] = LastIndex(_find_hierarchy)
