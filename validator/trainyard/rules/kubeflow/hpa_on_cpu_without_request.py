"""The autoscaler of an elastic job targets CPU utilization, but a container has no CPU request.

With `elasticPolicy.metrics` the operator creates a HorizontalPodAutoscaler for the Workers. A target of type
`Utilization` is a percentage of the container's CPU request. If any container of the pod, sidecars included, has
neither a request nor a limit for CPU, the autoscaler reports FailedGetResourceMetric with "missing request for cpu"
and never scales, so the number of Workers never changes. Nothing in the job itself shows this.

A `ContainerResource` metric needs only the request of its container. A LimitRange of the namespace may set a request,
so the rule is silent if the files contain one.

Set `resources.requests.cpu` for every container, or use a target of type `AverageValue`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role, Run

METRICS = {"Resource": "resource", "ContainerResource": "containerResource"}


@rule(
    code="KF025",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/hpa.go: desiredHPA",
        "kubernetes v1.34 pkg/controller/podautoscaler/replica_calculator.go: calculatePodRequests",
    ),
    needs=("elasticPolicy",),
)
def hpa_on_cpu_without_request(run: Run, context: Context) -> Iterator[Problem]:
    """Report a utilization target for a container without a CPU request."""
    worker = run.role("Worker")
    if run.kind != "PyTorchJob" or worker is None or context.project.of_kind("LimitRange"):
        return
    shared = mapping(worker.pod.tree, "resources")
    if "cpu" in {**mapping(shared, "requests"), **mapping(shared, "limits")}:
        return
    for index, metric in enumerate(items(run.elastic or {}, "metrics")):
        field = METRICS.get(text(metric, "type"), "")
        body = mapping(metric, field)
        if text(body, "name") != "cpu" or text(body, "target", "type") != "Utilization":
            continue
        place = run.at.child("spec", "elasticPolicy", "metrics", index)
        for container in _without_request(worker, text(body, "container") if field != "resource" else ""):
            yield _problem(container, place)


def _without_request(worker: Role, name: str) -> Iterator[Container]:
    sidecars = (c for c in worker.pod.init_containers if c.tree.get("restartPolicy") == "Always")
    for container in (*worker.pod.containers, *sidecars):
        if name in ("", container.name) and "cpu" not in {**container.requests, **container.limits}:
            yield container


def _problem(container: Container, metric: Place) -> Problem:
    return Problem(
        container.at.child("resources").key(),
        f"HPA targets CPU utilization, but `{container.name}` has no CPU request; it will never scale",
        "write resources.requests.cpu",
        related=((metric, "the metric"),),
    )
