"""The pods name a Service that the files do not have, and their headless Service has another name.

A pod of a StatefulSet has the name `<set>-<number>.<serviceName>` only under the Service that `serviceName` names. A
pod of an Indexed Job, or one with a `hostname`, has its name under the Service that is called like its `subdomain`.
Under another headless Service that selects the same pods, the name does not resolve: the ranks wait for their master
until the timeout of the rendezvous.

The rule applies if the file has exactly one headless Service that selects the pods, and no file defines the Service
that they name.

Write the name of the headless Service into `serviceName`, or give it the name of the `subdomain`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import may_match
from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.known_objects import is_known
from trainyard.analysis.objects.object_references import is_unknown
from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import mapping, text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Workload

_KIND = "StatefulSet"
# Labels with the name of its Job that a controller gives a pod.
_JOB_LABELS = ("job-name", "batch.kubernetes.io/job-name")


@rule(
    code="RF063",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/statefulset: stable network ID, serviceName",
        "kubernetes.io/docs/concepts/services-networking/dns-pod-service: hostname and subdomain of a pod",
        "github.com/kubernetes/kubernetes issue 74950",
    ),
    fix="unsafe",
    needs=(_KIND, "subdomain"),
)
def service_of_set_differs(run: Workload, context: Context) -> Iterator[Problem]:
    """Report a name of a Service beside a headless Service with another name."""
    name, at = _named(run)
    if not name or not run.roles or is_unknown(name) or is_known(context.project, "Service", name):
        return
    near = [
        one
        for one in _headless.of(context.project).get(run.at.document.source, ())
        if one.namespace == run.namespace and _selects(one, run)
    ]
    if len(near) != 1 or is_created_by_hand(run.at, name):
        return
    of_set = run.kind == _KIND
    pod = text(run.spec, "hostname") if run.kind == "Pod" else f"{run.name}-0"
    yield Problem(
        at,
        f"there is no Service `{name}`: names such as `{pod}.{near[0].name}` do not resolve under the headless "
        f"Service `{near[0].name}`",
        f"write `serviceName: {near[0].name}`" if of_set else f"call the Service `{name}`",
        (SetValue(at, near[0].name),) if of_set else (),
        ((near[0].at.child("metadata", "name"), "the headless Service of the pods"),),
    )


def _named(run: Workload) -> tuple[str, Place]:
    """Returns the Service under which the pods have their names, empty if they have none."""
    if run.kind == _KIND:
        return text(run.spec, "serviceName"), run.at.child("spec", "serviceName")
    pod = run.roles[0].pod if run.roles else None
    is_indexed = is_batch_job(run) and run.spec.get("completionMode") == "Indexed"
    if pod is None or not (is_indexed or (run.kind == "Pod" and text(pod.tree, "hostname"))):
        return "", run.at
    return text(pod.tree, "subdomain"), pod.at.child("subdomain")


def _selects(service: Resource, run: Workload) -> bool:
    selector = mapping(service.tree, "spec", "selector")
    of_job = [str(selector[name]) for name in _JOB_LABELS if name in selector]
    is_other = any(name != run.name for name in of_job) or (bool(of_job) and not is_batch_job(run))
    return not is_other and may_match(selector, run.roles[0])


def _find(project: Project) -> dict[Source, list[Resource]]:
    found: dict[Source, list[Resource]] = {}
    for one in project.of_kind("Service"):
        if mapping(one.tree, "spec").get("clusterIP") == "None" and mapping(one.tree, "spec", "selector"):
            found.setdefault(one.at.document.source, []).append(one)
    return found


_headless: LastIndex[Project, dict[Source, list[Resource]]] = LastIndex(_find)
