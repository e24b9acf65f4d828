"""One excluded range that whereabouts cannot read keeps every pod of the network from getting an address.

The entries of `exclude` are CIDRs or single addresses. When the configuration is loaded they are not checked, for
the list is emptied before the loop that was to validate it. The error comes only when an address is handed out:
`could not parse exclude range`, for each pod, which stays in `ContainerCreating`. A span such as
`10.10.0.1-10.10.0.9`, a wildcard and a netmask in dots are not understood.

The list beside `range` belongs to that range alone; ranges in `ipRanges` have lists of their own.

Write a span as the CIDRs that cover it, and a single address as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.aspects import addresses, cni
from validator.aspects.whereabouts import pools
from validator.model import Network
from validator.rule import Problem, rule


@rule(
    code="NT010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/allocate/allocate.go: IterateForAssignment, parseExcludedRange",
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/config/config.go: LoadIPAMConfig empties OmitRanges",
    ),
)
def nad_whereabouts_exclude_invalid(network: Network) -> Iterator[Problem]:
    """Excluded ranges that cannot be read."""
    for pool in pools(network):
        for index, entry in enumerate(pool.exclude):
            if not _readable(entry):
                yield Problem(
                    pool.at.child(cni.key(pool.tree, "exclude"), index),
                    f"whereabouts cannot read the excluded range `{entry}`",
                    "write a CIDR such as 10.10.0.0/28, or one address",
                )


def _readable(entry: Any) -> bool:
    if not isinstance(entry, str):
        return False
    return (addresses.subnet(entry) if "/" in entry else addresses.address(entry)) is not None
