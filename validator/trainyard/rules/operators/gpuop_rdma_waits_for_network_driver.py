"""The GPU driver waits for a network driver that nothing installs, and no GPU of the node becomes usable.

With `driver.rdma.enabled` the GPU operator's driver pod waits on each node with a Mellanox card before it goes on. With
`useHostMofed: true` it waits for the kernel module `mlx5_core`; without it, for the file
`/run/mellanox/drivers/.driver-ready`, which only the network operator's driver container writes. When the
NicClusterPolicy has no `ofedDriver` this file never comes: the init container `mofed-validation` and the container
`nvidia-peermem-ctr` stay there for good, and device plugin, toolkit and validator wait behind them.

Set `useHostMofed: true` where the node's own driver is used, or give the NicClusterPolicy an `ofedDriver`. With the
open kernel modules `rdma` can be left away, for NCCL then uses DMA-BUF.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Project, Resource
from validator.rule import Context, Problem, rule


@rule(
    code="GO006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 cmd/nvidia-validator/main.go: MOFED.runValidation",
        "NVIDIA/gpu-operator issue 448",
    ),
    needs=("ClusterPolicy",),
)
def gpuop_rdma_waits_for_network_driver(resource: Resource, context: Context) -> Iterator[Problem]:
    """Peermem that waits for the network operator's driver."""
    driver = mapping(resource.tree, "spec", "driver")
    rdma = mapping(driver, "rdma")
    if resource.kind != "ClusterPolicy" or driver.get("enabled") is False or rdma.get("enabled") is not True:
        return
    if rdma.get("useHostMofed") is not True and _network_driver_missing(context.project):
        yield Problem(
            resource.at.child("spec", "driver", "rdma", "enabled"),
            "the GPU driver waits for the network operator's driver, and the NicClusterPolicy has no `ofedDriver`",
            "set `useHostMofed: true`, or add `ofedDriver` to the NicClusterPolicy",
        )


def _network_driver_missing(project: Project) -> bool:
    policies = project.of_kind("NicClusterPolicy", "NicNodePolicy")
    cluster_wide = any(policy.kind == "NicClusterPolicy" for policy in policies)
    return cluster_wide and not any("ofedDriver" in mapping(policy.tree, "spec") for policy in policies)
