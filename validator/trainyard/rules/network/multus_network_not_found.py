"""A pod asks for a network that none of the files defines, so Multus cannot create the pod.

Multus looks for the NetworkAttachmentDefinition in the namespace of the pod, or in the one before the `/`. When it is
not there the pod gets the event `NoNetworkFound` and stays in `ContainerCreating`. Mostly a name was mistyped, or the
network lives in another namespace.

The rule speaks only where the files define networks at all, by a NetworkAttachmentDefinition or by an object from which
the SR-IOV or the NVIDIA network operator makes one. Networks that the cluster has from elsewhere belong into the
parameter `known_networks`, as `name` or `namespace/name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from validator.aspects import multus
from validator.aspects.networks import Name, advice, defined, written
from validator.model import Pod
from validator.rule import Context, Problem, rule


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
    """Networks that are defined nowhere."""
    given = written(context.parameters.known_networks)
    at_site = (Name(one.namespace, one.name) for one in context.site.networks) if context.site is not None else ()
    known = {*defined(context.project), *given, *at_site}
    own = context.run.namespace if context.run is not None else ""
    for attachment in multus.attachments(pod) if known else ():
        namespace = attachment.namespace or own
        if attachment.name and not any(one.fits(namespace, attachment.name) for one in known):
            yield Problem(
                multus.place(pod),
                f"no file defines the network `{attachment.name}`"
                + (f" in namespace {namespace}" if namespace else ""),
                advice(attachment.name, known, "define it, or name it in `known_networks`"),
            )
