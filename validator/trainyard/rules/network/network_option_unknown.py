"""A network of the pod has an option that Multus does not read, so it has no effect.

In JSON, each network of `k8s.v1.cni.cncf.io/networks` has the options `name`, `namespace`, `interface`, `ips`, `mac`,
`infiniband-guid`, `default-route`, `portMappings`, `bandwidth`, `cni-args`, `deviceID` and `ipam-claim-reference`.
Multus ignores others: with `interfaceName` the interface keeps a name such as `net1`, and `NCCL_SOCKET_IFNAME` does not
find the one that the author meant.

The rule reports names that resemble an option, or are another word for it. Other readers of the annotation may have
options of their own.

Write the name of the option.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Pod

_OPTIONS = (
    "name", "namespace", "interface", "ips", "mac", "infiniband-guid", "default-route", "portMappings", "bandwidth",
    "cni-args", "deviceID", "ipam-claim-reference", "interfaceRequest",
)  # fmt: skip
# Other words without their case and signs. `interfaceRequest` is an old name that Multus still reads.
_MEANT = {
    "interfacename": "interface", "ifname": "interface", "ip": "ips", "iprequest": "ips", "ipaddress": "ips",
    "ipaddresses": "ips", "macaddress": "mac", "macrequest": "mac", "infinibandguid": "infiniband-guid",
    "defaultroute": "default-route", "defaultgateway": "default-route", "cniargs": "cni-args",
}  # fmt: skip
# Go reads names of fields in any case.
_KNOWN = frozenset(name.lower() for name in _OPTIONS)


@rule(
    code="NT065",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni pkg/types/types.go: NetworkSelectionElement",
        "k8snetworkplumbingwg/network-attachment-definition-client pkg/apis/k8s.cni.cncf.io/v1/types.go",
        "github.com/k8snetworkplumbingwg/multus-cni issue 360",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def network_option_unknown(pod: Pod) -> Iterator[Problem]:
    """Report options that Multus ignores."""
    for attachment in multus.attachments(pod):
        if not isinstance(attachment.tree, dict):
            continue
        for name in attachment.tree:
            meant = "" if name.lower() in _KNOWN else _meant(name)
            if meant:
                yield Problem(
                    multus.annotation_place(pod),
                    f"Multus does not read `{name}` of network `{attachment.name}`",
                    f"write `{meant}`",
                )
                return


def _meant(name: str) -> str:
    plain = name.lower().replace("-", "").replace("_", "")
    return _MEANT.get(plain) or closest_match(name, _OPTIONS, 0.8) or ""
