"""The StatefulSet names a Service that the files do not have, and its headless Service has another name.

A pod of a StatefulSet has the name `<set>-<number>.<serviceName>` only under the Service that `serviceName` names.
Under another headless Service that selects the same pods, the name does not resolve: the ranks wait for their master
until the timeout of the rendezvous.

The rule applies if the file has exactly one headless Service that selects the pods of the StatefulSet, and no file
defines the Service that it names.

Write the name of the headless Service into `serviceName`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import may_match
from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.known_objects import is_known
from trainyard.analysis.objects.object_references import is_unknown
from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping, text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Workload

_KIND = "StatefulSet"


@rule(
    code="RF063",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/statefulset: stable network ID, serviceName",
        "github.com/kubernetes/kubernetes issue 74950",
    ),
    fix="unsafe",
    needs=(_KIND,),
)
def service_of_set_differs(run: Workload, context: Context) -> Iterator[Problem]:
    """Report a `serviceName` beside a headless Service with another name."""
    name = text(run.spec, "serviceName") if run.kind == _KIND else ""
    if not name or not run.roles or is_unknown(name) or is_known(context.project, "Service", name):
        return
    near = [
        one
        for one in _headless.of(context.project).get(run.at.document.source, ())
        if one.namespace == run.namespace and may_match(mapping(one.tree, "spec", "selector"), run.roles[0])
    ]
    if len(near) != 1 or is_created_by_hand(run.at, name):
        return
    at = run.at.child("spec", "serviceName")
    yield Problem(
        at,
        f"there is no Service `{name}`: names such as `{run.name}-0.{near[0].name}` do not resolve under the headless "
        f"Service `{near[0].name}`",
        f"write `serviceName: {near[0].name}`",
        (SetValue(at, near[0].name),),
        ((near[0].at.child("metadata", "name"), "the headless Service of the pods"),),
    )


def _find(project: Project) -> dict[Source, list[Resource]]:
    found: dict[Source, list[Resource]] = {}
    for one in project.of_kind("Service"):
        if mapping(one.tree, "spec").get("clusterIP") == "None" and mapping(one.tree, "spec", "selector"):
            found.setdefault(one.at.document.source, []).append(one)
    return found


_headless: LastIndex[Project, dict[Source, list[Resource]]] = LastIndex(_find)
