"""A pod takes a network of another namespace, which a cluster with namespace isolation refuses.

Multus has the option `namespaceIsolation`. With it a pod may use networks of its own namespace and of those that
`globalNamespaces` lists, which is `default` where nothing is listed. Any other reference fails the pod's sandbox with
`annotation violates permission`. Without the option the reference works, so this depends on how the cluster is set up,
and a chart that runs today can fail on the next cluster.

Define the network in the namespace of the job, or put shared networks into `default`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import multus
from validator.model import Pod
from validator.rule import Context, Problem, rule


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
    """Networks of a namespace that is not the pod's."""
    own = context.run.namespace if context.run is not None else ""
    for attachment in multus.attachments(pod):
        if own and attachment.namespace not in ("", own, "default"):
            yield Problem(
                multus.place(pod),
                f"a pod of namespace {own} takes the network {attachment.namespace}/{attachment.name}",
                f"define the network in {own} or in default",
            )
