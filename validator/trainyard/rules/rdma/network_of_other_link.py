"""The plugin of the network and the functions of its pool have different link types, so pods cannot join.

The plugin `sriov` sets VLAN and MAC address of an Ethernet function, and `ib-sriov` the GUID of an InfiniBand function.
`ib-sriov` fails with an Ethernet function, and `sriov` with one of InfiniBand as soon as it sets a VLAN, which releases
before 2.8 always do. The pod stays in `ContainerCreating`. The annotation `k8s.v1.cni.cncf.io/resourceName` of the
NetworkAttachmentDefinition names the pool, and `linkTypes` in the configuration of the SR-IOV device plugin says of
which type its functions are.

Write `ib-sriov` for a pool of `infiniband`, and `sriov` for one of `ether`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import sriov_pools
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Network, Project

_LINKS = {"sriov": "ether", "ib-sriov": "infiniband"}
_WORDS = {"ether": "Ethernet", "infiniband": "InfiniBand"}


@rule(
    code="RD023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: linkTypes",
        "k8snetworkplumbingwg/sriov-cni v2.7.0 and v2.10.0 pkg/config/config.go: LoadConf; pkg/sriov: ApplyVFConfig",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/sriov/sriov.go: applyVFGuid",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 261",
    ),
    needs=("linkTypes",),
)
def network_of_other_link(network: Network, context: Context) -> Iterator[Problem]:
    """Report networks whose functions have the other link type."""
    links = dict(_links_of(context.project, network.resource or ""))
    if len(links) != 1:
        return
    link, pool = next(iter(links.items()))
    for plugin, at in cni.plugins(network, *_LINKS):
        kind = cni.field_text(plugin, "type")
        if link in _WORDS and _LINKS[kind] != link:
            other = next(name for name, wanted in _LINKS.items() if wanted == link)
            yield Problem(
                at.child(cni.field_name(plugin, "type")),
                f"the plugin `{kind}` is for {_WORDS[_LINKS[kind]]}, but the functions of {network.resource} are "
                f"{_WORDS[link]}",
                f"write `{other}`",
                related=((pool, "the link type of the functions"),),
            )


def _links_of(project: Project, resource: str) -> Iterator[tuple[str, Place]]:
    """Yields each link type of the pools of a resource, `""` for a pool of any type."""
    for selectors, at in sriov_pools(project, resource):
        links = cni.field_value(selectors, "linkTypes")
        for link in links if isinstance(links, list) and links else [""]:
            yield str(link).lower(), at
