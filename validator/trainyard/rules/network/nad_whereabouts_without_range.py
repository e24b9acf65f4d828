"""whereabouts has no range to allocate from, so no pod on the network starts.

whereabouts reads `range`, or a list of them in `ipRanges`. `subnet` and `ranges` are fields of `host-local`, which
whereabouts ignores: a configuration that was changed only in its `type` has no range any more. Each pod stays in
`ContainerCreating` with the event `invalid CIDR address`.

The rule ignores networks with static `addresses`.

Write `range` with the CIDR of the network.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import Edit, Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

# Fields of host-local with the meaning of `range`.
FOREIGN = ("subnet", "ranges")


@rule(
    code="NT027",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/config/config.go: LoadIPAMConfig",
        "github.com/k8snetworkplumbingwg/whereabouts issue 243",
    ),
    fix="safe",
    needs=("whereabouts",),
)
def nad_whereabouts_without_range(network: Network) -> Iterator[Problem]:
    """Networks without a range."""
    for plugin, at in network.plugins:
        ipam = cni.field_value(plugin, "ipam")
        if cni.field_value(ipam, "type") != "whereabouts":
            continue
        if any(cni.field_value(ipam, name) for name in ("range", "ipRanges", "addresses")):
            continue
        place = at.child(cni.field_name(plugin, "ipam"))
        written = next((name for name in FOREIGN if cni.field_value(ipam, name)), None)
        if written is None:
            yield Problem(place, "whereabouts has no `range`: no pod gets an address", "add `range` with a CIDR")
            continue
        field = place.child(cni.field_name(ipam, written))
        edits: tuple[Edit, ...] = (Rename(field, "range"),) if written == "subnet" else ()
        yield Problem(
            field.key(),
            f"whereabouts does not read `{written}`, a field of host-local, and has no `range`",
            "write `range`",
            edits,
        )
