"""`driver.rdma.enabled` has no effect with `driver.enabled: false`, so nvidia-peermem may be missing.

The container `nvidia-peermem-ctr`, which is part of the driver's DaemonSet, loads the module `nvidia-peermem`. With
`driver.enabled: false`, because the driver is installed on the nodes, the operator deploys no such DaemonSet, and
`rdma.enabled` has no effect. GPUDirect RDMA then works only if the node loads the module itself, or with the open
kernel modules and DMA-BUF.

Load `nvidia-peermem` with the node's own driver, or use the open modules, and remove `rdma`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="GO003",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("NVIDIA/gpu-operator v26.7.0 assets/state-driver/0500_daemonset.yaml: container nvidia-peermem-ctr",),
    inferred=True,
    needs=("ClusterPolicy",),
)
def gpuop_rdma_driver_disabled(resource: Resource) -> Iterator[Problem]:
    """The peermem module of a driver that is not deployed."""
    driver = mapping(resource.tree, "spec", "driver")
    if resource.kind != "ClusterPolicy" or driver.get("enabled") is not False:
        return
    if mapping(driver, "rdma").get("enabled") is True:
        yield Problem(
            resource.at.child("spec", "driver", "rdma", "enabled"),
            "`rdma.enabled` has no effect while `driver.enabled` is false: nvidia-peermem is not loaded",
            "load nvidia-peermem with the node's driver, and remove `rdma`",
            related=((resource.at.child("spec", "driver", "enabled"), "the driver is off"),),
        )
