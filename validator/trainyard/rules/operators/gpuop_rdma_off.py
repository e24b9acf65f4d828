"""GPUDirect RDMA is not possible: peermem is off, and the proprietary modules have no DMA-BUF.

NCCL needs one of two kernel interfaces for GPUDirect RDMA: DMA-BUF, which only the open kernel modules of the driver
have, or the module `nvidia-peermem`, which the GPU operator loads if `driver.rdma.enabled` is true. Without it the
operator removes the container `nvidia-peermem-ctr` from the driver's DaemonSet. With neither, NCCL copies every buffer
through host memory (`GDR 0` in its log) and loses much of the bandwidth.

The rule reports only if `kernelModuleType` is `proprietary` and other files use RDMA. With open modules, which NVIDIA
recommends, peermem is not needed.

Write `kernelModuleType: open`, or set `rdma.enabled: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import any_rdma
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


@rule(
    code="GO002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: transformPeerMemoryContainer",
        "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html: DMA-BUF, nvidia-peermem",
    ),
    needs=("ClusterPolicy",),
)
def gpuop_rdma_off(resource: Resource, context: Context) -> Iterator[Problem]:
    """A driver with neither DMA-BUF nor peermem."""
    driver = mapping(resource.tree, "spec", "driver")
    if resource.kind != "ClusterPolicy" or driver.get("enabled") is False or driver.get("useNvidiaDriverCRD") is True:
        return
    if driver.get("kernelModuleType") != "proprietary" or mapping(driver, "rdma").get("enabled") is True:
        return
    if _uses_rdma.of(context.project):
        yield Problem(
            resource.at.child("spec", "driver", "rdma", "enabled"),
            "GPUDirect RDMA is not possible: nvidia-peermem is off and proprietary modules have no DMA-BUF",
            "set `kernelModuleType: open`, or `rdma.enabled: true`",
        )


def _find_rdma(project: Project) -> bool:
    for policy in project.of_kind("NicClusterPolicy", "NicNodePolicy"):
        if mapping(policy.tree, "spec", "rdmaSharedDevicePlugin"):
            return True
    for policy in project.of_kind("SriovNetworkNodePolicy"):
        if mapping(policy.tree, "spec").get("isRdma") is True:
            return True
    return any(any_rdma(role.pod.containers) for run in project.runs for role in run.roles)


_uses_rdma: LastIndex[Project, bool] = LastIndex(_find_rdma)
