"""The kubelet runs with kubenet, which calls no CNI plugin, so Multus never adds the networks of a pod.

Multus is a CNI plugin that the kubelet or the runtime calls. With `--network-plugin=kubenet` the kubelet makes the
network of pods itself and reads no configuration in `/etc/cni/net.d`. Pods start with `eth0` alone, whatever their
annotation says. Kubernetes has the flag until 1.23.

The rule reads the arguments of the kubelet for kubeadm, where the files also hold a NetworkAttachmentDefinition or a
pod with the annotation.

Write `network-plugin: cni`, and install a network plugin for the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network.multus import annotation_text
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Project, Resource

_FLAG, _KUBENET = "network-plugin", "kubenet"
_KINDS = ("InitConfiguration", "JoinConfiguration")
_OF_CLUSTER_API = ("KubeadmControlPlane", "KubeadmConfig", "KubeadmConfigTemplate", "KubeadmControlPlaneTemplate")


@rule(
    code="NT075",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.23.17 pkg/kubelet/dockershim/network/kubenet/kubenet_linux.go",
        "k8snetworkplumbingwg/multus-cni v4.3.0 docs/quickstart.md",
        "github.com/k8snetworkplumbingwg/multus-cni issue 392",
    ),
    needs=(_KUBENET,),
)
def kubenet_calls_no_plugin(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report kubelets with kubenet beside networks of Multus."""
    for tree, at in _registrations(resource):
        place = _told(tree.get("kubeletExtraArgs"), at.child("kubeletExtraArgs"))
        if place is not None and _uses_multus(context.project):
            yield Problem(
                place,
                "kubenet calls no CNI plugin, so Multus never adds the networks of a pod",
                "write `cni`, and install a network plugin",
            )


def _registrations(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    if resource.kind in _KINDS:
        yield mapping(resource.tree, "nodeRegistration"), resource.at.child("nodeRegistration")
    elif resource.kind in _OF_CLUSTER_API:
        for path in (("spec",), ("spec", "kubeadmConfigSpec"), ("spec", "template", "spec")):
            for kind in ("initConfiguration", "joinConfiguration"):
                below = (*path, kind, "nodeRegistration")
                yield mapping(resource.tree, *below), resource.at.child(*below)


def _told(arguments: Any, at: Place) -> Place | None:
    """Returns the place of the flag: in a mapping, or in a list of names and values since v1beta4."""
    if isinstance(arguments, list):
        for index, one in enumerate(arguments):
            if (text(one, "name"), text(one, "value")) == (_FLAG, _KUBENET):
                return at.child(index, "value")
    return at.child(_FLAG) if text(arguments, _FLAG) == _KUBENET else None


def _uses_multus(project: Project) -> bool:
    return bool(project.networks) or any(annotation_text(role.pod) for run in project.runs for role in run.roles)
