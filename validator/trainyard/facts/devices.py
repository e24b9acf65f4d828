"""Which extended resources are accelerators and which are fast networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from validator.fields import decimal
from validator.model import Container, Pod

# Device plugins of NVIDIA, AMD, Intel and Habana; MIG devices carry their profile behind the prefix.
_ACCELERATORS = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi")
# RDMA shared device plugin and SR-IOV device plugin (prefix set by the site), AWS EFA, OKE's virtual functions.
_RDMA = (
    "rdma/",
    "vpc.amazonaws.com/efa",
    "nvidia.com/rdma",
    "nvidia.com/hostdev",
    "mellanox.com/",
    "openshift.io/mlnx",
)


def gpus(limits: Mapping[str, Any], requests: Mapping[str, Any]) -> int:
    """Number of accelerators in a container's resources; 0 for none."""
    total = 0
    for resource, quantity in limits.items():
        # The names of most resources have no domain.
        if "/" in resource and resource.startswith(_ACCELERATORS):
            total += decimal(str(quantity)) or 0
    for resource, quantity in requests.items():
        if "/" in resource and resource not in limits and resource.startswith(_ACCELERATORS):
            total += decimal(str(quantity)) or 0
    return total


def is_accelerator(resource: str) -> bool:
    """Whether an extended resource is an accelerator."""
    return resource.startswith(_ACCELERATORS)


def wants_gpu(pod: Pod) -> bool:
    """Whether any container of the pod asks for an accelerator."""
    return any(container.gpus for container in pod.containers)


def rdma_resources(container: Container) -> tuple[str, ...]:
    """Names of the RDMA resources that a container asks for."""
    return tuple(sorted({resource for resource in (*container.limits, *container.requests) if is_rdma(resource)}))


def is_rdma(resource: str) -> bool:
    """Whether an extended resource is an RDMA or EFA device."""
    return "/" in resource and resource.startswith(_RDMA)


def any_rdma(containers: Iterable[Container]) -> bool:
    """Whether one of the containers asks for an RDMA resource."""
    return any(map(is_rdma, (name for one in containers for name in (*one.limits, *one.requests))))
