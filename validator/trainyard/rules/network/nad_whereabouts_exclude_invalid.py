"""whereabouts cannot parse an excluded range, so no pod on the network gets an address.

The entries of `exclude` are CIDRs or single addresses. whereabouts does not check them when it loads the
configuration, because it empties the list before the loop that validates it. The error appears only when an address is
allocated: `could not parse exclude range`, for each pod, which stays in `ContainerCreating`. A span such as
`10.10.0.1-10.10.0.9`, a wildcard and a dotted netmask are not supported.

`exclude` next to `range` applies to that range only; each range in `ipRanges` has its own list.

Write a span as the CIDRs that cover it, and a single address as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import addresses, cni
from trainyard.analysis.network.whereabouts import pools
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network


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
    """Report excluded ranges that cannot be parsed."""
    for pool in pools(network):
        for index, entry in enumerate(pool.exclude):
            if not _readable(entry):
                yield Problem(
                    pool.at.child(cni.field_name(pool.tree, "exclude"), index),
                    f"whereabouts cannot parse the excluded range `{entry}`",
                    "write a CIDR such as 10.10.0.0/28, or one address",
                )


def _readable(entry: Any) -> bool:
    if not isinstance(entry, str):
        return False
    return (addresses.subnet(entry) if "/" in entry else addresses.address(entry)) is not None
