"""Two policies of the SR-IOV operator select the same virtual function, so its webhook refuses the second one.

A policy selects a part of the functions of an interface by their numbers, as in `ens3f0np0#0-3`. Each function
belongs to one policy, because it has one driver and one resource name. The webhook compares all policies for the same
nodes: "VF index range in ens3f0np0#3-7 is overlapped with existing policy storage".

The rule compares policies of one file with the same node selector, because several files may be for different
clusters.

Write ranges without a common number. They count from 0, and the last number is part of the range.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource
from trainyard.startup import pattern

_RANGE = pattern(r"([^#]+)#([0-9]{1,4})-([0-9]{1,4})")


class Part(NamedTuple):
    """The functions of an interface that a policy selects."""

    first: int
    last: int
    policy: Resource
    at: Place


@rule(
    code="RD026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator 249e2001 pkg/webhook/validate.go: validatePfNames",
        "github.com/openshift/openshift-docs pull request 21073",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_ranges_overlap(project: Project) -> Iterator[Problem]:
    """Report numbers that two policies have."""
    for parts in _of_interfaces(project).values():
        widest: Part | None = None
        for part in sorted(parts, key=lambda one: (one.first, one.last)):
            if widest is not None and part.first <= widest.last and part.policy.name != widest.policy.name:
                yield Problem(
                    part.at,
                    f"the policies {widest.policy.name} and {part.policy.name} overlap: both select function "
                    f"{part.first}",
                    "write ranges without a common number",
                    related=((widest.at, widest.policy.name),),
                )
            if widest is None or part.last > widest.last:
                widest = part


def _of_interfaces(project: Project) -> dict[tuple[object, ...], list[Part]]:
    """Returns the parts by the file, the namespace, the nodes and the interface."""
    found: dict[tuple[object, ...], list[Part]] = {}
    for policy in project.of_kind("SriovNetworkNodePolicy"):
        selected = mapping(policy.tree, "spec", "nodeSelector")
        nodes = frozenset((str(key), str(value)) for key, value in selected.items())
        selector = mapping(policy.tree, "spec", "nicSelector")
        for index, written in enumerate(items(selector, "pfNames")):
            part = _RANGE.fullmatch(written) if isinstance(written, str) else None
            if part is not None and int(part[2]) <= int(part[3]):
                at = policy.at.child("spec", "nicSelector", "pfNames", index)
                key = (policy.at.document.source.name, policy.namespace, nodes, part[1])
                found.setdefault(key, []).append(Part(int(part[2]), int(part[3]), policy, at))
    return found
