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
from validator.fields import text
from validator.model import Pod, Project
from validator.rule import Context, Problem, rule
from validator.spelling import closest

# Objects of which an operator makes a NetworkAttachmentDefinition of the same name in `spec.networkNamespace`.
MAKERS = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork")


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
    known = {*_defined(context.project), *(_pair(name) for name in context.parameters.known_networks)}
    own = context.run.namespace if context.run is not None else ""
    for attachment in multus.attachments(pod) if known else ():
        namespace = attachment.namespace or own
        if attachment.name and not any(_fits(namespace, attachment.name, one) for one in known):
            yield Problem(
                multus.place(pod),
                f"no file defines the network `{attachment.name}`"
                + (f" in namespace {namespace}" if namespace else ""),
                _help(attachment.name, known),
            )


def _defined(project: Project) -> Iterator[tuple[str, str]]:
    for network in project.networks:
        yield network.namespace, network.name
    for resource in project.of_kind(*MAKERS):
        yield text(resource.tree, "spec", "networkNamespace"), resource.name


def _pair(name: str) -> tuple[str, str]:
    namespace, _, bare = name.rpartition("/")
    return namespace, bare


def _fits(namespace: str, name: str, known: tuple[str, str]) -> bool:
    return known[1] == name and (not namespace or known[0] in ("", namespace))


def _help(name: str, known: set[tuple[str, str]]) -> str:
    elsewhere = sorted(namespace for namespace, other in known if other == name)
    if elsewhere:
        return f"it is defined in namespace {elsewhere[0]}: write `{elsewhere[0]}/{name}`"
    near = closest(name, sorted({other for _, other in known}), 0.6)
    return f"did you mean `{near}`?" if near is not None else "define it, or name it in `known_networks`"
