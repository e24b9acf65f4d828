"""This GPU container cannot get CPUs of its own, so its threads wander between NUMA nodes.

The kubelet's static CPU manager gives a container exclusive cores, and the topology manager aligns them with its GPUs
and network cards, only for pods of the class Guaranteed with a whole number of CPUs: requests and limits must be equal,
for `cpu` and for `memory`. Otherwise the container runs on the shared cores, its data loaders and NCCL's proxy threads
may sit on the socket that is not wired to the GPU, and bandwidth varies from run to run.

It matters on nodes whose kubelet has these policies; elsewhere nothing changes. Containers that say nothing about CPUs
are left alone.

Write the same whole number of CPUs, and the same memory, as request and limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.quantities import number
from validator.model import Container
from validator.rule import Problem, rule


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
        limit = number(container.limits.get(resource))
        # A missing request is filled in with the limit.
        field = "requests" if resource in container.requests else "limits"
        request = number(container.requests[resource]) if field == "requests" else limit
        if resource == "cpu" and request is None:
            return
        if limit != request:
            fault = f"request and limit of {resource} differ: the container is not Guaranteed"
            yield Problem(container.at.child("resources", field, resource), fault, "make them equal")
            return
        if resource == "cpu" and request is not None and request % 1:
            fault = f"{request:g} CPUs are no whole number: the container gets no cores of its own"
            yield Problem(container.at.child("resources", field, resource), fault, "write a whole number")
            return
