"""The Service of a workload selects labels that its pods do not have, so connections to it are refused.

A Service forwards to the pods whose labels fit its selector. Without such pods it has no endpoints: clients get
"connection refused", and no event tells why.

The rule looks at a Service and a Deployment, StatefulSet or DaemonSet of the same name in the same file, if no pod of
any file fits the selector.

Write labels of the pod template into the selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import may_match, may_match_any
from trainyard.analysis.objects.patches import is_patch
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Run

_KINDS = frozenset(("Deployment", "StatefulSet", "DaemonSet"))


@rule(
    code="RF023",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/service: Defining a Service",
        "github.com/kubeflow/community-distribution issue 2018",
    ),
    needs=("selector",),
)
def service_reaches_no_pod(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report a selector that fits no pod."""
    if resource.kind != "Service" or resource.api_version != "v1":
        return
    selector = mapping(resource.tree, "spec", "selector")
    run = _by_name.of(context.project).get((id(resource.at.document.source), resource.name)) if selector else None
    if run is None or not run.roles or run.namespace != resource.namespace:
        return
    # Operators create pods that no file shows, and labels with a domain are often theirs.
    if any("/" in str(name) and name not in run.roles[0].pod.labels for name in selector):
        return
    if any(may_match(selector, role) or is_patch(role.pod) for role in run.roles):
        return
    if may_match_any(selector, context.project):
        return
    words = ", ".join(f"{key}={value}" for key, value in selector.items())
    yield Problem(
        resource.at.child("spec", "selector", next(iter(selector))),
        f"no pod has `{words}`, not even those of {run.kind} {run.name}: Service `{resource.name}` has no endpoints",
        "write labels of the pod template",
        related=((run.roles[0].pod.template_at.child("metadata", "labels"), "the labels of the pods"),),
    )


def _find(project: Project) -> dict[tuple[int, str], Run]:
    return {(id(run.at.document.source), run.name): run for run in project.runs if run.kind in _KINDS}


_by_name: LastIndex[Project, dict[tuple[int, str], Run]] = LastIndex(_find)
