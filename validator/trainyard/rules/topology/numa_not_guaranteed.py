"""This GPU container cannot get exclusive CPUs, so its threads move between NUMA nodes.

The kubelet's static CPU manager assigns exclusive cores, and the topology manager aligns them with the GPUs and network
adapters. Both apply only to pods of the class Guaranteed with a whole number of CPUs: requests and limits must be
equal, for `cpu` and for `memory`. Otherwise the container runs on the shared cores, its data loaders and NCCL's proxy
threads may run on the socket that is not connected to the GPU, and bandwidth varies from run to run.

It matters on nodes whose kubelet has these policies; elsewhere nothing changes. The rule ignores containers without CPU
requests or limits.

Write the same whole number of CPUs, and the same memory, as request and limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container


@rule(
    code="TP008",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/tasks/administer-cluster/cpu-management-policies: static policy",
        "kubernetes.io/docs/concepts/workloads/pods/pod-qos: criteria of Guaranteed",
    ),
)
def numa_not_guaranteed(container: Container) -> Iterator[Problem]:
    """GPU containers whose CPUs are shared."""
    if not container.gpus:
        return
    for resource in ("cpu", "memory"):
        limit = parse_quantity(container.limits.get(resource))
        # A missing request defaults to the limit.
        field = "requests" if resource in container.requests else "limits"
        request = parse_quantity(container.requests[resource]) if field == "requests" else limit
        if resource == "cpu" and request is None:
            return
        if any(has_parameter(str(known.get(resource))) for known in (container.limits, container.requests)):
            continue
        if limit != request:
            fault = f"request and limit of {resource} differ: the pod is not Guaranteed"
            yield Problem(container.at.child("resources", field, resource), fault, "make them equal")
            return
        if resource == "cpu" and request is not None and request % 1:
            fault = f"{request:g} CPUs is not a whole number: the container gets no exclusive cores"
            yield Problem(container.at.child("resources", field, resource), fault, "write a whole number")
            return
