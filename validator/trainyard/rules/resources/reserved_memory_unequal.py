"""The memory that is reserved on NUMA nodes is not what the node keeps back, so the kubelet does not start.

With `memoryManagerPolicy: Static`, the sum of `reservedMemory` over all NUMA nodes must equal what the node keeps
back, for each type of memory: `kubeReserved`, `systemReserved`, and the hard eviction threshold `memory.available`.
It is 100Mi if `evictionHard` is absent, and 0 if it names other signals alone. Huge pages have no threshold. The
kubelet ends with "the total amount ... is not equal to the value ... determined by Node Allocatable feature".

The rule leaves out files that reserve nothing for the node, which are parts of a configuration, and those with
arguments of the kubelet. It also reads `userData` of Bottlerocket in an EC2NodeClass for huge pages, of which
Bottlerocket reserves none itself.

Write amounts with the same sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource

_RESERVES = ("kubeReserved", "systemReserved")
_MEMORY, _SIGNAL = "memory", "memory.available"
# The default of the kubelet, if `evictionHard` is absent.
_THRESHOLD = "100Mi"
# Arguments of the kubelet beside the file, such as those of kubeadm, replace its fields.
_ARGUMENTS = ("kube-reserved", "system-reserved", "reserved-memory", "eviction-hard")
_MEBIBYTE = 2**20
_PAGES = re.compile(
    r"""^[ \t]*["']?(hugepages-[0-9]+[KMG]i)["']?[ \t]*=[ \t]*["']([1-9][0-9]*[KMG]?i?)["']""", re.MULTILINE
)
_OF_NODES, _OF_POOLS = "memory-manager-reserved-memory", ("kube-reserved", "system-reserved")


@rule(
    code="RS031",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://kubernetes.io/docs/tasks/administer-cluster/memory-manager/#reserved-memory-flag",
        "github.com/openshift-kni/numaresources-operator pull request 80",
        "github.com/bottlerocket-os/bottlerocket issue 4754",
    ),
    needs=("reservedMemory", _OF_NODES),
)
def reserved_memory_unequal(resource: Resource) -> Iterator[Problem]:
    """Report sums that differ."""
    if resource.kind == "EC2NodeClass":
        yield from _of_bottlerocket(resource)
    if resource.kind != "KubeletConfiguration" or group_of(resource.api_version) != "kubelet.config.k8s.io":
        return
    tree = resource.tree
    nodes = [mapping(one, "limits") for one in items(tree, "reservedMemory")]
    if text(tree, "memoryManagerPolicy") != "Static" or not nodes or not any(map(tree.get, _RESERVES)):
        return
    if any(one in resource.at.document.source.text for one in _ARGUMENTS):
        return
    for kind in sorted({kind for limits in nodes for kind in limits}):
        told = [parse_quantity(limits[kind]) for limits in nodes if kind in limits]
        kept = _kept(tree, kind)
        amounts = [one for one in told if one is not None]
        if kept is not None and len(amounts) == len(told) and round(sum(amounts)) != round(kept):
            yield Problem(
                resource.at.child("reservedMemory").key(),
                f"reservedMemory has {_said(sum(amounts))} of {kind}, and the node keeps back {_said(kept)}: "
                "the kubelet does not start",
                f"write {_said(kept)} in all, or change kubeReserved or systemReserved",
            )


def _kept(tree: dict[str, Any], kind: str) -> float | None:
    """Returns the bytes that the node keeps back, None if they are not known."""
    parts = [mapping(tree, name)[kind] for name in _RESERVES if kind in mapping(tree, name)]
    if kind == _MEMORY:
        is_merged = "evictionHard" not in tree or tree.get("mergeDefaultEvictionSettings") is True
        parts.append(mapping(tree, "evictionHard").get(_SIGNAL, _THRESHOLD if is_merged else 0))
    amounts = [parse_quantity(one) for one in parts]
    return sum(one for one in amounts if one is not None) if None not in amounts else None


def _said(amount: float) -> str:
    return f"{amount / _MEBIBYTE:g}Mi"


def _of_bottlerocket(resource: Resource) -> Iterator[Problem]:
    settings = text(resource.tree, "spec", "userData")
    tables = re.split(r"^[ \t]*\[", settings, flags=re.MULTILINE)
    if any("hugepages-" in one for one in tables if any(name in one.partition("]")[0] for name in _OF_POOLS)):
        return
    for table in tables:
        found = _PAGES.search(table) if _OF_NODES in table.partition("]")[0] else None
        if found is not None:
            yield Problem(
                resource.at.child("spec", "userData"),
                f"{_OF_NODES} has {found[2]} of {found[1]}, and the node keeps back none: the kubelet does not start",
                f"remove `{found[1]}`, or reserve it for the system too",
            )
            return
