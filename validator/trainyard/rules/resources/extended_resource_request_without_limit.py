"""A device or huge pages are requested without a limit, so Kubernetes rejects the pod.

Devices such as `nvidia.com/gpu` or `rdma/hca`, and huge pages, cannot be overcommitted: if `requests` names one,
`limits` must name it too. The custom resources of training operators are accepted all the same, because nothing
validates their pod template; the operator then fails to create the pods
(`Limit must be set for non overcommitable resources`), and the run stays without pods. A `batch/v1` Job is rejected at
once.

The rule ignores namespaces whose LimitRange is among the files and sets the limit.

Write the quantity under `limits`; the request defaults to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.limits import has_default_limit, runtime_has_limit
from trainyard.document.document import Add, Edit, Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.extended_resources import is_exact
from trainyard.model.run import Container


@rule(
    code="RS001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateResourceRequirements",),
    fix="safe",
)
def extended_resource_request_without_limit(container: Container, context: Context) -> Iterator[Problem]:
    """A request of a device without its limit."""
    run = context.run
    if run is None or not has_all_pods(run):
        return
    missing = {
        name: quantity
        for name, quantity in container.requests.items()
        if is_exact(name) and name not in container.limits and quantity is not None
    }
    for name, quantity in missing.items():
        if has_default_limit(context.project, run.namespace, name) or runtime_has_limit(run, name):
            continue
        at = quantity_at(run, context.role, container, "requests", name)
        yield Problem(
            at,
            f"{name} has a request but no limit: Kubernetes rejects the pod",
            f"write `{name}: {quantity}` under limits",
            _with_limit(container, at, name, missing),
        )


def _with_limit(container: Container, request: Place, name: str, missing: dict[str, object]) -> tuple[Edit, ...]:
    resources = Place(request.document, request.path[:-2])
    if len(missing) == 1 or container.limits:
        return (Add(resources.child("limits"), name, missing[name]),)
    # Two edits that each add a field to a missing mapping would create two mappings; one shared edit adds it once.
    return (Add(resources, "limits", missing),) if "limits" not in mapping(container.tree, "resources") else ()
