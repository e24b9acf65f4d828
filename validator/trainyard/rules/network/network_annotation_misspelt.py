"""The annotation looks like the one of Multus, but has another name, so the pod gets no additional network.

Multus reads the networks of a pod from `k8s.v1.cni.cncf.io/networks` and nothing else. Earlier drafts of the
specification had other names, such as `kubernetes.v1.cni.cncf.io/networks` and a plain `networks`, which remain in
examples. Kubernetes accepts any annotation. The pod starts with `eth0` alone, and no event gives the reason.

The network in place of the cluster's own is a matter of `v1.multus-cni.io/default-network`, and a default route of
`default-route` in the list of networks. Names such as `k8s.v1.cni.cncf.io/networks-default` do not exist.

A plain `networks` counts if its value is a list of networks as Multus reads it in JSON, each with a name.

Write `k8s.v1.cni.cncf.io/networks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.analysis.network.multus import ANNOTATION, Malformed
from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod

GROUPS = (".cni.cncf.io", ".multus-cni.io")
WORDS = ("network", "networks")
DEFAULT = "v1.multus-cni.io/default-network"
DEFAULT_WORDS = ("default-network", "default-networks", "network-default", "networks-default")


@rule(
    code="NT026",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/network-attachment-definition-client pkg/apis/k8s.cni.cncf.io/v1: NetworkAttachmentAnnot",
        "k8snetworkplumbingwg/multus-cni docs/configuration.md: v1.multus-cni.io/default-network",
        "github.com/k8snetworkplumbingwg/multus-cni issues 57, 134 and 349",
    ),
    fix="unsafe",
    needs=("cni.cncf.io/", "multus-cni.io/", "networks"),
)
def network_annotation_misspelt(pod: Pod) -> Iterator[Problem]:
    """Another name for the networks of a pod."""
    for name in pod.annotations:
        if _is_default(str(name)):
            at = pod.template_at.child("metadata", "annotations", name)
            help_ = f"write `{DEFAULT}`, or `default-route` in `{ANNOTATION}` for a route alone"
            yield Problem(at.key(), f"Multus does not read `{name}`", help_)
        if name == ANNOTATION or not _is_meant(str(name), pod):
            continue
        at = pod.template_at.child("metadata", "annotations", name)
        edits = () if ANNOTATION in pod.annotations else (Rename(at, ANNOTATION),)
        yield Problem(at.key(), f"Multus does not read `{name}`", f"write `{ANNOTATION}`", edits)


def _is_default(name: str) -> bool:
    """True for a name that stands for the annotation of the default network."""
    group, _, word = name.rpartition("/")
    return name != DEFAULT and word in DEFAULT_WORDS and f".{group}".endswith(GROUPS)


def _is_meant(name: str, pod: Pod) -> bool:
    """True for a name that stands for the annotation of Multus."""
    group, slash, word = name.rpartition("/")
    if word not in WORDS:
        return False
    if slash:
        return f".{group}".endswith(GROUPS)
    return ANNOTATION not in pod.annotations and _lists_networks(pod.annotations[name])


def _lists_networks(value: object) -> bool:
    found = multus.parse_annotation(value) if isinstance(value, str) and value.lstrip().startswith("[") else ()
    return not isinstance(found, Malformed) and bool(found) and all(one.name for one in found)
