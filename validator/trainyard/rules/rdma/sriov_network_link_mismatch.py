"""The network and the policy of its virtual functions are for different kinds of links, so no pod can join it.

A SriovNetwork becomes a network of the plugin `sriov`, which sets VLAN and MAC address of an Ethernet function; a
SriovIBNetwork becomes one of `ib-sriov`, which sets the GUID of an InfiniBand function. Each fails with a function of
the other kind. Which kind the functions are is said by `linkType` of the SriovNetworkNodePolicy with the same
`resourceName`: `eth` or `ib`. The API server and the operator accept both objects; the pods stay in
`ContainerCreating`.

Write SriovIBNetwork for `linkType: ib`, and SriovNetwork for `eth`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import text
from validator.model import Resource
from validator.rule import Context, Problem, rule

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
    """Networks on functions of the other kind."""
    wanted = KINDS.get(resource.kind)
    if wanted is None:
        return
    name = text(resource.tree, "spec", "resourceName")
    policies = context.project.of_kind("SriovNetworkNodePolicy")
    fitting = [one for one in policies if text(one.tree, "spec", "resourceName") == name and name]
    kinds = {text(one.tree, "spec", "linkType").lower() for one in fitting}
    if kinds and kinds <= {"eth", "ib"} and wanted not in kinds:
        other = next(kind for kind, link in KINDS.items() if link in kinds)
        yield Problem(
            resource.at.child("kind"),
            f"{resource.kind} is for {_words(wanted)}, and the functions of {name} are {_words(*kinds)}",
            f"write {other}, or `linkType: {wanted}` in the policy",
            related=((fitting[0].at.child("spec", "linkType"), "the kind of link of the functions"),),
        )


def _words(*links: str) -> str:
    return "InfiniBand" if "ib" in links else "Ethernet"
