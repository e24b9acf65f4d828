"""A ResourceQuota counts CPUs or memory, and a container states none: the API server refuses each pod.

Where a quota limits `requests.cpu`, `requests.memory`, `limits.cpu` or `limits.memory`, every container of the
namespace must state this quantity. A controller then reports "failed quota: must specify limits.cpu", and creates no
pod. A limit counts as a request, too. A LimitRange with defaults gives containers what they lack.

The rule reads quotas without a scope and LimitRanges in the files.

Write the quantity, or give the namespace a LimitRange with a default.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.folders import of_namespace
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod, Resource

_COUNTED = ("cpu", "memory")


@rule(
    code="RF016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/quota/v1/evaluator/core/pods.go: Constraints, must specify",
        "kubernetes.io/docs/concepts/policy/resource-quotas: compute resource quota",
        "github.com/ray-project/kuberay pull 1899",
    ),
    needs=("ResourceQuota",),
)
def quota_needs_quantity(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report a container without a quantity that a quota counts."""
    run = context.run
    if run is None or run.kind == "TrainJob" or not has_all_pods(run) or "resources" in pod.tree:
        return
    for quota in of_namespace(context.project, "ResourceQuota", run.namespace, run.at):
        spec = mapping(quota.tree, "spec")
        if (
            "scopes" in spec
            or "scopeSelector" in spec
            or of_namespace(context.project, "LimitRange", run.namespace, run.at)
        ):
            continue
        yield from _refused(pod, quota, [str(name) for name in mapping(spec, "hard")])


def _refused(pod: Pod, quota: Resource, hard: list[str]) -> Iterator[Problem]:
    for container in pod.containers:
        name = next((one for one in hard if _lacks(container, one)), None)
        if name is not None:
            message = f"quota `{quota.name}` counts {name}, and {container.name} states none: no pod is created"
            related = ((quota.at.child("spec", "hard", name), "the quota"),)
            yield Problem(
                _place(container),
                message,
                f"write {name} of the container, or add a LimitRange with a default",
                related=related,
            )


def _place(container: Container) -> Place:
    """Returns the place where the quantity is missing: the resources of the container, if it has any."""
    resources = mapping(container.tree, "resources")
    field = next((name for name in ("limits", "requests") if name in resources), None)
    return container.at.child("resources", field).key() if field is not None else container.at


def _lacks(container: Container, name: str) -> bool:
    field, dot, resource = name.rpartition(".")
    if resource not in _COUNTED or (dot and field not in ("limits", "requests")):
        return False
    return resource not in container.limits and (field == "limits" or resource not in container.requests)
