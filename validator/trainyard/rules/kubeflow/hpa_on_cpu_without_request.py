"""The autoscaler of an elastic job measures CPU in per cent of a request that a container does not have.

With `elasticPolicy.metrics` the operator creates a HorizontalPodAutoscaler for the Workers. A target of type
`Utilization` is a share of the container's CPU request. When one container of the pod, a sidecar included, has
neither a request nor a limit for CPU, the autoscaler reports FailedGetResourceMetric with "missing request for cpu"
and never scales; the Workers stay at their first number. Nothing in the job itself points to it.

A `ContainerResource` metric needs the request of its container only. A LimitRange of the namespace may set one: the
rule is silent when there is one among the files.

Write `resources.requests.cpu` for every container, or a target of type `AverageValue`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import items, mapping, text
from validator.model import Container, Role, Run
from validator.rule import Context, Problem, rule
from validator.source import Place

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
    """A share of a CPU request that is not there."""
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
        f"container `{container.name}` has no CPU request, of which the autoscaler would take a percentage",
        "write resources.requests.cpu",
        related=((metric, "the metric"),),
    )
