"""The network and the policy of its virtual functions have different link types, so pods cannot join.

A SriovNetwork uses the plugin `sriov`, which sets VLAN and MAC address of an Ethernet function. A SriovIBNetwork uses
`ib-sriov`, which sets the GUID of an InfiniBand function. Each fails with a function of the other type. `linkType` of
the SriovNetworkNodePolicy with the same `resourceName` sets the type of the functions: `eth` or `ib`. The API server
and the operator accept both objects; the pods stay in `ContainerCreating`.

Write SriovIBNetwork for `linkType: ib`, and SriovNetwork for `eth`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import policies_of
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

KINDS = {"SriovNetwork": "eth", "SriovIBNetwork": "ib"}


@rule(
    code="RD013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go: RenderNetAttDef, CniType sriov and ib-sriov",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/config/config.go and pkg/sriov: GUID of an InfiniBand function",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_network_link_mismatch(resource: Resource, context: Context) -> Iterator[Problem]:
    """Networks on functions of the other link type."""
    wanted = KINDS.get(resource.kind)
    if wanted is None:
        return
    name = text(resource.tree, "spec", "resourceName")
    fitting = policies_of(context.project, name) if name else ()
    kinds = {text(one.tree, "spec", "linkType").lower() for one in fitting}
    if kinds and kinds <= {"eth", "ib"} and wanted not in kinds:
        other = next(kind for kind, link in KINDS.items() if link in kinds)
        yield Problem(
            resource.at.child("kind"),
            f"{resource.kind} is for {_words(wanted)}, but the functions of {name} are {_words(*kinds)}",
            f"write {other}, or `linkType: {wanted}` in the policy",
            related=((fitting[0].at.child("spec", "linkType"), "the link type of the functions"),),
        )


def _words(*links: str) -> str:
    return "InfiniBand" if "ib" in links else "Ethernet"
