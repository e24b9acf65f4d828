"""kubeadm starts a component of Kubernetes with a flag that its release lacks, or with a value that the flag refuses.

kubeadm writes `extraArgs` into the static pods of the control plane, and `kubeletExtraArgs` into the flags of the
kubelet, without a look at them. The component exits with `unknown flag`, and `kubeadm init` or the upgrade waits for it
until its time is over. Releases of Kubernetes remove flags: `insecure-port` of the API server in 1.24, `network-plugin`
and `container-runtime` of the kubelet in 1.24 and 1.27, `cloud-provider` of the API server in 1.33.

The release is `kubernetesVersion` of the ClusterConfiguration in the same file, or `version` of a KubeadmControlPlane.

Remove the argument, or write the one of this release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.pods.daemon_flags import flag_fault, value_fault
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.daemons import KUBERNETES, Daemon, Minor, library_flags
from trainyard.model.run import Resource
from trainyard.startup import pattern

_VERSION = pattern(r"(?:v|stable-)?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?\Z")
# The fields of a ClusterConfiguration with the program of each.
_CONTROL_PLANE = {
    "apiServer": "kube-apiserver",
    "controllerManager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
}
_KINDS = ("ClusterConfiguration", "InitConfiguration", "JoinConfiguration", "KubeadmControlPlane")


@rule(
    code="GO080",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.2 cmd/kubeadm/app/util/arguments.go: ArgumentsToCommand",
        "facts/programs/daemons.py: the source of each component",
        "github.com/labring/sealos issue 2933, github.com/replicatedhq/kURL pull 3445",
        "github.com/rootless-containers/usernetes pull 371, github.com/kubernetes/minikube issue 13945",
    ),
    needs=("xtraArgs",),
)
def kubeadm_argument_refused(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report arguments that the component of this release does not have, or refuses."""
    if resource.kind not in _KINDS:
        return
    release = _release(resource, context)
    if release is None:
        return
    for program, tree, at in _arguments(resource):
        daemon = KUBERNETES[program]
        if daemon.has(release):
            yield from _judged(daemon, release, tree, at)


def _judged(daemon: Daemon, release: Minor, tree: Any, at: Place) -> Iterator[Problem]:
    for name, value, place in _pairs(tree, at):
        plain = name.replace("_", "-")
        if plain in library_flags(daemon) or not name.replace("-", "").replace("_", "").isalnum():
            continue
        fault = flag_fault(daemon, release, plain, name) or value_fault(daemon, release, plain, value)
        if fault is not None:
            yield Problem(place, fault.message, fault.help)


def _pairs(tree: Any, at: Place) -> Iterator[tuple[str, str, Place]]:
    """Yields the arguments: a mapping, or a list of names and values since v1beta4."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield str(name), value if isinstance(value, str) else "", at.child(name)
    elif isinstance(tree, list):
        for index, entry in enumerate(tree):
            if name := text(entry, "name"):
                yield name, text(entry, "value"), at.child(index, "name")


def _arguments(resource: Resource) -> Iterator[tuple[str, Any, Place]]:
    tree, at = resource.tree, resource.at
    if resource.kind == "KubeadmControlPlane":
        tree, at = mapping(tree, "spec", "kubeadmConfigSpec"), at.child("spec", "kubeadmConfigSpec")
        for part in ("initConfiguration", "joinConfiguration"):
            yield from _of_kubelet(mapping(tree, part), at.child(part))
        tree, at = mapping(tree, "clusterConfiguration"), at.child("clusterConfiguration")
    else:
        yield from _of_kubelet(tree, at)
    for field, program in _CONTROL_PLANE.items():
        yield program, mapping(tree, field).get("extraArgs"), at.child(field, "extraArgs")


def _of_kubelet(tree: dict[str, Any], at: Place) -> Iterator[tuple[str, Any, Place]]:
    registration = mapping(tree, "nodeRegistration")
    yield "kubelet", registration.get("kubeletExtraArgs"), at.child("nodeRegistration", "kubeletExtraArgs")


def _release(resource: Resource, context: Context) -> Minor | None:
    """Returns the release of the cluster; None if the files do not tell one."""
    if resource.kind == "KubeadmControlPlane":
        return _minor(text(resource.tree, "spec", "version"))
    if resource.kind == "ClusterConfiguration":
        return _minor(text(resource.tree, "kubernetesVersion"))
    source = resource.at.document.source
    beside = [one for one in context.project.of_kind("ClusterConfiguration") if one.at.document.source is source]
    return _minor(text(beside[0].tree, "kubernetesVersion")) if len(beside) == 1 else None


def _minor(version: str) -> Minor | None:
    found = _VERSION.match(version)
    return (int(found[1]), int(found[2])) if found else None
