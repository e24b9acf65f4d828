"""Extended resources that are accelerators or fast networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.document.lookup import decimal

# Device plugins of NVIDIA, AMD, Intel and Habana; a MIG device has its profile as a suffix.
ACCELERATORS = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi")
# Shares of a GPU, which HAMi counts in percent and in MiB.
_SHARES = ("nvidia.com/gpumem", "nvidia.com/gpucore")
# RDMA shared device plugin and SR-IOV device plugin (the site sets the prefix), AWS EFA, OKE's virtual functions.
RDMA = (
    "rdma/",
    "vpc.amazonaws.com/efa",
    "nvidia.com/rdma",
    "nvidia.com/hostdev",
    "mellanox.com/",
    "openshift.io/mlnx",
)


def gpus(limits: Mapping[str, Any], requests: Mapping[str, Any]) -> int:
    """Returns the number of accelerators in a container's resources, 0 for none."""
    total = 0
    for resource, quantity in limits.items():
        # Most resource names have no domain.
        if "/" in resource and is_accelerator(resource):
            total += decimal(str(quantity)) or 0
    for resource, quantity in requests.items():
        if "/" in resource and resource not in limits and is_accelerator(resource):
            total += decimal(str(quantity)) or 0
    return total


def is_accelerator(resource: str) -> bool:
    """True if an extended resource is an accelerator."""
    return resource.startswith(ACCELERATORS) and not resource.startswith(_SHARES)


def is_rdma(resource: str) -> bool:
    """True if an extended resource is an RDMA or EFA device."""
    return "/" in resource and resource.startswith(RDMA)
