"""The GPU driver waits for a network driver that is not installed, so the node's GPUs stay unusable.

With `driver.rdma.enabled` the GPU operator's driver pod waits on each node that has a Mellanox card. With
`useHostMofed: true` it waits for the kernel module `mlx5_core`. Without it, it waits for the file
`/run/mellanox/drivers/.driver-ready`, which only the network operator's driver container writes. If the
NicClusterPolicy has no `ofedDriver`, this file never appears: the init container `mofed-validation` and the container
`nvidia-peermem-ctr` wait forever, and the device plugin, the toolkit and the validator wait for them.

Set `useHostMofed: true` if the node's own driver is used, or add `ofedDriver` to the NicClusterPolicy. With the open
kernel modules `rdma` can be omitted, because NCCL then uses DMA-BUF.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import NESTED, distance
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


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
    """A peermem container that waits for the network operator's driver."""
    driver = mapping(resource.tree, "spec", "driver")
    rdma = mapping(driver, "rdma")
    if resource.kind != "ClusterPolicy" or driver.get("enabled") is False or rdma.get("enabled") is not True:
        return
    if rdma.get("useHostMofed") is not True and _is_driver_missing(resource, context.project):
        yield Problem(
            resource.at.child("spec", "driver", "rdma", "enabled"),
            "the GPU driver waits for the network operator's driver, but the NicClusterPolicy has no `ofedDriver`",
            "set `useHostMofed: true`, or add `ofedDriver` to the NicClusterPolicy",
        )


def _is_driver_missing(resource: Resource, project: Project) -> bool:
    """True if no policy of the network operator has the driver, and one near this object is for all nodes."""
    # A folder apart from this one is another example.
    return any(distance(one.at, resource.at) <= NESTED for one in _without_driver.of(project))


def _find_without_driver(project: Project) -> list[Resource]:
    """Returns the policies for all nodes, one for each file; none if any policy has the driver."""
    if any("ofedDriver" in mapping(one.tree, "spec") for one in project.of_kind("NicClusterPolicy", "NicNodePolicy")):
        return []
    return list({one.at.document.source.name: one for one in project.of_kind("NicClusterPolicy")}.values())


_without_driver: LastIndex[Project, list[Resource]] = LastIndex(_find_without_driver)
