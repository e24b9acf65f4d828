"""A networks annotation that Multus cannot read keeps the pods of the job from being created.

The annotation `k8s.v1.cni.cncf.io/networks` is plain text to the API server. Multus reads it as a list of
`namespace/name@interface` with commas between, or, as soon as it holds `[`, `{` or `"`, as a JSON list of objects. In
the short form names consist of lower-case letters, digits and `-`; the name of an interface has at most 15 characters,
no blank and no `/`. In JSON `name` is needed, `ips` is a list, and `mac`, `infiniband-guid` and each of `ips` must be
what they are called. Anything else fails the pod's sandbox again and again, and the rest of the job waits for it with
its GPUs.

A comma at the end asks for a network without a name, which is not found either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.aspects import addresses, multus
from validator.aspects.multus import Attachment, Malformed
from validator.model import Pod
from validator.rule import Problem, rule

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
    """Annotations that Multus refuses."""
    found = multus.parse(multus.value(pod))
    faults = [found.reason] if isinstance(found, Malformed) else [fault for one in found for fault in _faults(one)]
    for fault in faults[:1]:
        yield Problem(multus.place(pod), f"Multus cannot read the networks annotation: {fault}", HELP)


def _faults(attachment: Attachment) -> Iterator[str]:
    if not attachment.name:
        yield "a network has no name"
    if len(attachment.interface) > 15 or re.search(r"[\s/]", attachment.interface):
        yield f"`{attachment.interface}` is no name for an interface (at most 15 characters, no blank, no `/`)"
    yield from _json(attachment.tree) if isinstance(attachment.tree, dict) else _short(attachment)


def _short(attachment: Attachment) -> Iterator[str]:
    if attachment.tree.count("/") > 1 or attachment.tree.count("@") > 1:
        yield f"`{attachment.tree}` is not of the form namespace/name@interface"
    for name in (attachment.namespace, attachment.name):
        if name and not LABEL.match(name):
            yield f"`{name}` has other characters than lower-case letters, digits and `-`"


def _json(tree: dict[str, Any]) -> Iterator[str]:
    for name in ("name", "namespace", "interface", "mac", "infiniband-guid"):
        if not isinstance(tree.get(name), str | None):
            yield f"`{name}` is no text"
    for name in ("mac", "infiniband-guid"):
        given = tree.get(name)
        if isinstance(given, str) and given and not MAC.match(given):
            yield f"`{given}` is no address for `{name}`"
    ips = tree.get("ips")
    if ips is not None and not isinstance(ips, list):
        yield "`ips` is no list"
    for ip in ips if isinstance(ips, list) else ():
        if not isinstance(ip, str) or (addresses.subnet(ip) if "/" in ip else addresses.address(ip)) is None:
            yield f"`{ip}` in `ips` is no address"
