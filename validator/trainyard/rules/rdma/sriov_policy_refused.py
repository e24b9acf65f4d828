"""The SR-IOV operator rejects this policy, so no virtual functions are created and no pod gets a device.

A SriovNetworkNodePolicy selects adapters by at least one field of `nicSelector` and creates at least one function on
each (`numVfs`). Its resource name consists of letters, digits, `-` and `_`, with a letter or a digit at both ends. An
interface in `pfNames` may select some of its functions, as in `ens1f0#0-3`: the first must not be above the last, and
the last must be below `numVfs`, because functions count from 0. The operator's webhook rejects anything else. If the
webhook is off, the policy is stored, but its functions do not appear.

The interfaces of `pfNames` are those of the nodes, as `ip link` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

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
    """Policies that the operator's webhook rejects."""
    if resource.kind != "SriovNetworkNodePolicy" or resource.name == "default":
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    name, count = spec.get("resourceName"), integer(spec, "numVfs")
    if not isinstance(name, str) or not NAME.match(name):
        fault = "is missing" if name is None else f"`{name}` is not a valid resource name"
        yield Problem(at.child("resourceName"), f"`resourceName` {fault}", "write letters, digits, `-` and `_`")
    if count is not None and count < 1:
        yield Problem(at.child("numVfs"), f"`numVfs` is {count}: no virtual function is created", "write 1 or more")
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
        yield Problem(at, f"`{interface}` is not a range of functions", "write a range such as `ens1f0#0-3`")
        return
    first, last = int(written[1]), int(written[2])
    if first > last:
        yield Problem(at, f"the range in `{interface}` ends before it starts", f"write {last}-{first}")
    elif count is not None and last >= count > 0:
        yield Problem(
            at, f"`{interface}` names function {last}, but the last of {count} is {count - 1}", "count from 0"
        )
