"""The Service of a LeaderWorkerSet also selects the workers of each group, which do not serve requests.

The pods of a group run one server together, and the leader (worker index 0) alone answers requests. A Service that
selects the whole set sends a part of the requests to the workers: they time out or get 404.

The rule ignores headless Services, and sets whose leader has a template with other labels in the selector.

Add `leaderworkerset.sigs.k8s.io/worker-index: "0"` to the selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Project, Resource, Role, Run

NAME, INDEX = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/worker-index"


@rule(
    code="RF030",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables: worker-index",
        "github.com/ome-projects/ome pull 138",
    ),
    fix="safe",
    needs=("LeaderWorkerSet",),
)
def service_selects_followers(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report Services that reach the workers of a group."""
    spec = mapping(resource.tree, "spec")
    selector = mapping(spec, "selector")
    if resource.kind != "Service" or not selector or INDEX in selector or spec.get("clusterIP") == "None":
        return
    run = _selected(selector, resource.namespace, context.project)
    if run is None or run.is_job:
        return
    at = resource.at.child("spec", "selector")
    yield Problem(
        at.child(next(iter(selector))),
        f"Service `{resource.name}` selects the workers of LeaderWorkerSet {run.name} too, and only the leader of a "
        "group serves requests",
        f'add `{INDEX}: "0"` to the selector',
        (Add(at, INDEX, "0"),),
    )


def _selected(selector: dict[str, object], namespace: str, project: Project) -> Run | None:
    for run in project.runs:
        size = integer(mapping(run.spec, "leaderWorkerTemplate"), "size") if run.kind == "LeaderWorkerSet" else None
        worker = run.role("worker") if size is not None and size > 1 else None
        near = not namespace or not run.namespace or namespace == run.namespace
        if worker is not None and near and _has(selector, worker, run):
            return run
    return None


def _has(selector: dict[str, object], role: Role, run: Run) -> bool:
    labels = {**role.pod.labels, NAME: run.name}
    return all(str(labels.get(name)) == str(value) for name, value in selector.items())
