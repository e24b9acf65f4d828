"""`driver.rdma.enabled` loads nothing while the operator's driver is off, so the nodes may lack nvidia-peermem.

The module `nvidia-peermem` is loaded by the container `nvidia-peermem-ctr`, which is a part of the driver's daemon set.
With `driver.enabled: false`, because the driver is installed on the nodes, the operator deploys no such daemon set, and
`rdma.enabled` has no effect. GPUDirect RDMA then works only where the node loads the module itself, or where the open
kernel modules and DMA-BUF are used.

Load `nvidia-peermem` with the node's own driver, or use the open modules, and leave `rdma` away.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Resource
from validator.rule import Problem, rule


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
    """Peermem of a driver that is not deployed."""
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
