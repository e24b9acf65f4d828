"""The pod requests a network that no file defines, so Multus cannot set up the pod.

Multus looks up the NetworkAttachmentDefinition in the namespace of the pod, or in the one before the `/`. If it does
not exist, the pod gets the event `NoNetworkFound` and stays in `ContainerCreating`. The usual cause is a misspelt
name, or a network in another namespace.

The rule applies only if the files define networks, by a NetworkAttachmentDefinition or by an object from which the
SR-IOV or the NVIDIA network operator creates one. List networks that the cluster has from elsewhere in the parameter
`known_networks`, as `name` or `namespace/name`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.analysis.network.networks import Name, advice, defined_networks, is_among, is_defined, parse_names
from trainyard.analysis.objects.known_objects import only_elsewhere
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod
from trainyard.startup import NamedTuple

KIND = "NetworkAttachmentDefinition"


class Parameters(NamedTuple):
    """`known_networks`: networks of the cluster that no file defines, as `name` or `namespace/name`."""

    known_networks: tuple[str, ...] = ()


@rule(
    code="NT013",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate",
        "k8snetworkplumbingwg/sriov-network-operator and Mellanox/network-operator API: spec.networkNamespace",
    ),
    parameters=Parameters(),
    needs=("k8s.v1.cni.cncf.io",),
)
def multus_network_not_found(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report networks that no file defines."""
    defined = defined_networks(context.project)
    at_site = (Name(one.namespace, one.name) for one in context.site.networks) if context.site is not None else ()
    others = frozenset((*parse_names(context.parameters.known_networks), *at_site))
    own = context.run.namespace if context.run is not None else ""
    for attachment in multus.attachments(pod) if defined or others else ():
        namespace, name = attachment.namespace or own, attachment.name
        # NT031 reports it.
        if not attachment.namespace and only_elsewhere(context.project, KIND, name, own, multus.annotation_place(pod)):
            continue
        if name and not is_defined(context.project, namespace, name) and not is_among(others, namespace, name):
            yield Problem(
                multus.annotation_place(pod),
                f"no file defines the network `{name}`" + (f" in namespace {namespace}" if namespace else ""),
                advice(name, defined | others, "define it, or add it to `known_networks`"),
            )
