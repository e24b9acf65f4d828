"""The kubelet gives whole processors to pods and reserves none for the system, so it does not start.

With `cpuManagerPolicy: static`, the kubelet keeps the processors that are reserved for the system out of its pool. It
needs `reservedSystemCPUs`, or `cpu` in `kubeReserved` or `systemReserved`: "unable to determine reserved CPU resources
for static policy". `memoryManagerPolicy: Static` needs `reservedMemory` in the same way.

The arguments of the kubelet may also reserve them. The rule is silent if the file mentions a reserve anywhere.

Add `reservedSystemCPUs: "0-1"`, or `kubeReserved` with `cpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource

_RESERVES = ("kubeReserved", "systemReserved")
_ARGUMENTS = ("kube-reserved", "system-reserved", "reserved-cpus", "reserved-memory")


@rule(
    code="RS029",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.29.15 and v1.37.2 pkg/kubelet/cm/cpumanager/cpu_manager.go: NewManager",
        "kubernetes v1.37.2 pkg/kubelet/cm/memorymanager/memory_manager.go: getSystemReservedMemory",
        "github.com/kubernetes/kubernetes issue 70161",
    ),
    needs=("KubeletConfiguration",),
)
def static_cpus_without_reserve(resource: Resource) -> Iterator[Problem]:
    """Report static policies without a reserve."""
    if resource.kind != "KubeletConfiguration" or group_of(resource.api_version) != "kubelet.config.k8s.io":
        return
    tree, written = resource.tree, resource.at.document.source.text
    if any(one in written for one in _ARGUMENTS):
        return
    reserves = [mapping(tree, name) for name in _RESERVES]
    has_cpus = bool(tree.get("reservedSystemCPUs")) or any("cpu" in one for one in reserves)
    if text(tree, "cpuManagerPolicy") == "static" and not has_cpus:
        message = "the static policy needs reserved processors, and none are reserved: the kubelet does not start"
        yield Problem(
            resource.at.child("cpuManagerPolicy"), message, 'add `reservedSystemCPUs: "0-1"` or `kubeReserved`'
        )
    if text(tree, "memoryManagerPolicy") == "Static" and not tree.get("reservedMemory"):
        message = "the static policy needs `reservedMemory`, and none is reserved: the kubelet does not start"
        yield Problem(resource.at.child("memoryManagerPolicy"), message, "add `reservedMemory` for each NUMA node")
