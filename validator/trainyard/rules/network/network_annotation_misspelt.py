"""The annotation looks like the one of Multus, but has another name, so the pod gets no additional network.

Multus reads the networks of a pod from `k8s.v1.cni.cncf.io/networks` and nothing else. Earlier drafts of the
specification had other names, such as `kubernetes.v1.cni.cncf.io/networks`, which remain in examples. Kubernetes
accepts any annotation. The pod starts with `eth0` alone, and no event gives the reason.

Write `k8s.v1.cni.cncf.io/networks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network.multus import ANNOTATION
from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod

GROUP = "cni.cncf.io/"
WORDS = ("network", "networks")


@rule(
    code="NT026",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/network-attachment-definition-client pkg/apis/k8s.cni.cncf.io/v1: NetworkAttachmentAnnot",
        "github.com/k8snetworkplumbingwg/multus-cni issue 57",
    ),
    fix="unsafe",
    needs=("cni.cncf.io/network",),
)
def network_annotation_misspelt(pod: Pod) -> Iterator[Problem]:
    """Another name for the networks of a pod."""
    for name in pod.annotations:
        group, _, word = str(name).rpartition(GROUP)
        if not group.endswith((".", "")) or word not in WORDS or GROUP not in str(name) or name == ANNOTATION:
            continue
        at = pod.template_at.child("metadata", "annotations", name)
        edits = () if ANNOTATION in pod.annotations else (Rename(at, ANNOTATION),)
        yield Problem(at.key(), f"Multus does not read `{name}`", f"write `{ANNOTATION}`", edits)
