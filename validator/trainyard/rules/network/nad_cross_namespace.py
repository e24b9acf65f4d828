"""The pod uses a network of another namespace, which a cluster with namespace isolation rejects.

Multus has the option `namespaceIsolation`. With it a pod may use networks of its own namespace and of those in
`globalNamespaces`, by default only `default`. Any other reference fails the pod's sandbox with `annotation violates
permission`. Without the option the reference works, so a chart that runs today can fail on the next cluster.

Define the network in the namespace of the job, or put shared networks into `default`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod


@rule(
    code="NT014",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: GetNetworkDelegates",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/types/conf.go: NonIsolatedNamespaces",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def nad_cross_namespace(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report networks of a namespace other than the pod's."""
    own = context.run.namespace if context.run is not None else ""
    for attachment in multus.attachments(pod):
        if own and attachment.namespace not in ("", own, "default"):
            yield Problem(
                multus.annotation_place(pod),
                f"a pod in namespace {own} uses the network {attachment.namespace}/{attachment.name}",
                f"define the network in {own} or in default",
            )
