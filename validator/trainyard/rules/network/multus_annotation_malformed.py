"""Multus cannot parse the networks annotation, so the pods of the job are not created.

The API server treats the annotation `k8s.v1.cni.cncf.io/networks` as plain text. Multus parses it as a comma-separated
list of `namespace/name@interface` or, if it contains `[`, `{` or `"`, as a JSON list of objects. In the short form,
names consist of lower-case letters, digits and `-`; an interface name has at most 15 characters, no blank and no `/`.
In JSON, `name` is required and has no `/`, because `namespace` is a field of its own; `ips` is a list, and `mac`,
`infiniband-guid` and each entry of `ips` must be valid addresses. Anything else fails the pod's sandbox repeatedly,
while the rest of the job waits for it with its GPUs.

A trailing comma requests a network without a name, which Multus does not find either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import addresses, multus
from trainyard.analysis.network.multus import Attachment, Malformed
from trainyard.document.placeholders import has_variable
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
# Go's net.ParseMAC takes 6, 8 and 20 bytes, in pairs or in groups of four digits.
MAC = re.compile(
    r"[0-9a-fA-F]{2}(?P<sign>[:-])(?:[0-9a-fA-F]{2}(?P=sign)){4}[0-9a-fA-F]{2}$"
    r"|[0-9a-fA-F]{2}(?P<sign8>[:-])(?:[0-9a-fA-F]{2}(?P=sign8)){6}[0-9a-fA-F]{2}$"
    r"|[0-9a-fA-F]{2}(?P<sign20>[:-])(?:[0-9a-fA-F]{2}(?P=sign20)){18}[0-9a-fA-F]{2}$"
    r"|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}$|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){3}$|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){9}$"
)
HELP = "write `name`, `namespace/name@interface`, several with commas between, or a JSON list of objects"


@rule(
    code="NT012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: parsePodNetworkAnnotation",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/types/types.go: NetworkSelectionElement",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def multus_annotation_malformed(pod: Pod) -> Iterator[Problem]:
    """Report annotations that Multus rejects."""
    written = multus.annotation_text(pod)
    if has_variable(str(written)):
        return
    found = multus.parse_annotation(written)
    faults = [found.reason] if isinstance(found, Malformed) else [fault for one in found for fault in _faults(one)]
    for fault in faults[:1]:
        yield Problem(multus.annotation_place(pod), f"Multus cannot parse the networks annotation: {fault}", HELP)


def _faults(attachment: Attachment) -> Iterator[str]:
    if not attachment.name:
        yield "a network has no name"
    if len(attachment.interface) > 15 or re.search(r"[\s/]", attachment.interface):
        yield f"`{attachment.interface}` is not a valid interface name (at most 15 characters, no blank, no `/`)"
    yield from _json(attachment.tree) if isinstance(attachment.tree, dict) else _short(attachment)


def _short(attachment: Attachment) -> Iterator[str]:
    if attachment.tree.count("/") > 1 or attachment.tree.count("@") > 1:
        yield f"`{attachment.tree}` is not of the form namespace/name@interface"
    for name in (attachment.namespace, attachment.name):
        if name and not LABEL.match(name):
            yield f"`{name}` may contain only lower-case letters, digits and `-`"


def _json(tree: dict[str, Any]) -> Iterator[str]:
    for name in ("name", "namespace", "interface", "mac", "infiniband-guid"):
        if not isinstance(tree.get(name), str | None):
            yield f"`{name}` is not a string"
    for name in ("mac", "infiniband-guid"):
        given = tree.get(name)
        if isinstance(given, str) and given and not MAC.match(given):
            yield f"`{name}` is not a valid address: `{given}`"
    wanted = tree.get("name")
    if isinstance(wanted, str) and "/" in wanted:
        yield f"in JSON, the namespace is a field of its own, and no object is named `{wanted}`"
    ips = tree.get("ips")
    if ips is not None and not isinstance(ips, list):
        yield "`ips` is not a list"
    for ip in ips if isinstance(ips, list) else ():
        if not isinstance(ip, str) or (addresses.subnet(ip) if "/" in ip else addresses.address(ip)) is None:
            yield f"`ips` contains `{ip}`, which is not an address"
