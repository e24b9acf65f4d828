"""The GPU driver builds its peer memory module for MOFED of the host, and the network operator runs another MOFED.

With `driver.rdma.useHostMofed: true` the GPU operator's driver takes the sources of MOFED from the node, in
`/usr/src/ofa_kernel`, and waits for the modules of the node. The NicClusterPolicy with `ofedDriver` replaces these
modules with those of its container, whose sources are elsewhere. `nvidia-peermem` then does not fit the running
modules, and GPUDirect RDMA does not work through it.

The rule reads the ClusterPolicy and the values of the chart `gpu-operator`.

Set `useHostMofed: false`, or remove `ofedDriver` if the nodes have MOFED.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_FIELD = ("driver", "rdma", "useHostMofed")


@rule(
    code="GO070",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: transformPeerMemoryContainer, USE_HOST_MOFED",
        "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html: useHostMofed",
        "github.com/NVIDIA/aicr pull 1680",
    ),
    needs=(_FIELD[-1],),
)
def host_mofed_beside_network_driver(project: Project) -> Iterator[Problem]:
    """Report MOFED of the host beside the container of the network operator."""
    policies = project.of_kind("NicClusterPolicy", "NicNodePolicy")
    driver = next((one for one in policies if mapping(one.tree, "spec", "ofedDriver")), None)
    for at in _uses_of_host(project) if driver is not None else ():
        yield Problem(
            at,
            "`useHostMofed` expects MOFED on the nodes, but the network operator runs it in a container: "
            "nvidia-peermem does not fit its modules",
            "set `useHostMofed: false`",
            related=((driver.at.child("spec", "ofedDriver").key(), "the container"),) if driver is not None else (),
        )


def _uses_of_host(project: Project) -> Iterator[Place]:
    for policy in project.of_kind("ClusterPolicy"):
        if _is_on(mapping(policy.tree, "spec")):
            yield policy.at.child("spec", *_FIELD)
    for release in releases(project):
        if release.chart == "gpu-operator" and _is_on(release.values):
            yield release.place(*_FIELD)


def _is_on(values: dict[str, object]) -> bool:
    driver = mapping(values, "driver")
    return driver.get("enabled") is not False and mapping(driver, "rdma").get("useHostMofed") is True
