"""The SR-IOV operator refuses this policy, so the adapters get no virtual functions and no pod gets a device.

A SriovNetworkNodePolicy selects adapters by at least one field of `nicSelector`, makes at least one function of each
(`numVfs`), and calls its resource by letters, digits, `-` and `_`, with a letter or a digit at both ends. An interface
in `pfNames` may stand for some of its functions, `ens1f0#0-3`: the first is not above the last, and the last is below
`numVfs`, since functions count from 0. The operator's webhook refuses anything else; where it is off, the policy is
stored and its functions do not appear.

Interfaces of `pfNames` are those of the nodes, as `ip link` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.fields import items, mapping, whole
from validator.model import Resource
from validator.rule import Problem, rule
from validator.source import Place

SELECTORS = ("vendor", "deviceID", "pfNames", "rootDevices", "netFilter")
NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?$")
RANGE = re.compile(r"[^#]+#([0-9]{1,4})-([0-9]{1,4})$")


@rule(
    code="RD012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go: staticValidateSriovNetworkNodePolicy",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go: validateResourceName, numVfs",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_policy_refused(resource: Resource) -> Iterator[Problem]:
    """Policies that the operator's webhook does not let through."""
    if resource.kind != "SriovNetworkNodePolicy" or resource.name == "default":
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    name, count = spec.get("resourceName"), whole(spec, "numVfs")
    if not isinstance(name, str) or not NAME.match(name):
        fault = "is missing" if name is None else f"`{name}` is no name of a resource"
        yield Problem(at.child("resourceName"), f"`resourceName` {fault}", "write letters, digits, `-` and `_`")
    if count is not None and count < 1:
        yield Problem(at.child("numVfs"), f"`numVfs` is {count}: there is no function to hand out", "write 1 or more")
    selector = mapping(spec, "nicSelector")
    if not any(selector.get(field) for field in SELECTORS):
        advice = f"set one of {', '.join(SELECTORS)}"
        yield Problem(at.child("nicSelector"), "`nicSelector` selects no adapter", advice)
    for index, interface in enumerate(items(selector, "pfNames")):
        yield from _functions(interface, count, at.child("nicSelector", "pfNames", index))


def _functions(interface: Any, count: int | None, at: Place) -> Iterator[Problem]:
    if not isinstance(interface, str) or "#" not in interface:
        return
    written = RANGE.match(interface)
    if written is None:
        yield Problem(at, f"`{interface}` names no functions of an interface", "write a range such as `ens1f0#0-3`")
        return
    first, last = int(written[1]), int(written[2])
    if first > last:
        yield Problem(at, f"`{interface}` ends before it starts", f"write {last}-{first}")
    elif count is not None and last >= count > 0:
        yield Problem(
            at, f"`{interface}` names function {last}, and the last of {count} is {count - 1}", "count from 0"
        )
