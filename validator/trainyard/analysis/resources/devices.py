"""Accelerators, RDMA devices and other extended resources that containers request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.facts.hardware.devices import is_rdma
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Role, Run


def wants_gpu(pod: Pod) -> bool:
    """True if any container of the pod requests an accelerator."""
    return any(container.gpus for container in pod.containers)


def requested_devices(container: Container) -> Iterator[tuple[str, str]]:
    """Yields the devices that a container requests, each once, with `limits`, or `requests` if only these have it."""
    for name in {**container.requests, **container.limits}:
        if is_device(str(name)):
            yield str(name), "limits" if name in container.limits else "requests"


def rdma_resources(container: Container) -> tuple[str, ...]:
    """Returns the names of the RDMA resources that a container requests."""
    return tuple(sorted({resource for resource in (*container.limits, *container.requests) if is_rdma(resource)}))


def any_rdma(containers: Iterable[Container]) -> bool:
    """True if one of the containers requests an RDMA resource."""
    return any(map(is_rdma, (name for one in containers for name in (*one.limits, *one.requests))))


def quantity_at(run: Run | None, role: Role | None, container: Container, field: str, resource: str) -> Place:
    """Returns the place of a quantity in `limits` or `requests`: a TrainJob has its own beside those of its runtime."""
    own = container.at.child("resources", field, resource)
    if run is None or role is None or run.kind != "TrainJob" or container is not role.container:
        return own
    if run.runtime is not None and resource not in mapping(run.spec, "trainer", "resourcesPerNode", field):
        return own
    return run.at.child("spec", "trainer", "resourcesPerNode", field, resource)


def uses_rccl(run: Run | None) -> bool:
    """True if a container of the run requests AMD GPUs or has an image for them."""
    return run is not None and _uses_rccl.of(run)


def _has_amd_gpus(run: Run) -> bool:
    containers = run.containers
    resources = {str(name) for container in containers for name in (*container.limits, *container.requests)}
    images = [container.image or "" for container in containers]
    return any(name.startswith("amd.com/") for name in resources) or any("rocm" in image for image in images)


# The rules for variables ask for each variable of the run.
_uses_rccl = LastIndex(_has_amd_gpus)
