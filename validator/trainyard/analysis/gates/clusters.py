"""Feature gates of Kubernetes and of kubeadm, in the configurations of components and of tools that create clusters.

Sources: kubernetes v1.37.2 cmd/kubeadm/app/apis/kubeadm/v1beta3 and v1beta4 (ClusterConfiguration, extraArgs);
kubernetes-sigs/kind v0.31.0 pkg/apis/config/v1alpha4/types.go (Cluster); kubernetes-sigs/cluster-api v1.12.2
api/bootstrap/kubeadm (KubeadmConfigSpec); gardener/gardener pkg/apis/core/v1beta1/types_shoot.go; kubernetes/kops
pkg/apis/kops/v1alpha2/componentconfig.go; eksctl-io/eksctl pkg/apis/eksctl.io/v1alpha5 (kubeletExtraConfig);
siderolabs/talos pkg/machinery/config/types/v1alpha1; kubernetes-sigs/kubespray roles/kubespray_defaults
(kube_feature_gates); docs.k3s.io/cli/server (`--kubelet-arg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.analysis.gates.setting import (
    Gate,
    gates,
    in_arguments,
    in_extra_arguments,
    in_list,
    in_map,
    of_image,
    release,
)
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.facts.feature_gates import KUBEADM, KUBERNETES, Version
from trainyard.model.run import Resource

_GATES = "featureGates"
_PATCHES = "kubeadmConfigPatches"
_COMPONENTS = ("apiServer", "controllerManager", "scheduler")
_OF_KUBELET = ("kubelet.config.k8s.io", "kubeproxy.config.k8s.io")
# Where the objects of cluster-api hold a KubeadmConfigSpec.
_OF_CLUSTER_API = {
    "KubeadmControlPlane": ("spec", "kubeadmConfigSpec"),
    "KubeadmControlPlaneTemplate": ("spec", "template", "spec", "kubeadmConfigSpec"),
    "KubeadmConfig": ("spec",),
    "KubeadmConfigTemplate": ("spec", "template", "spec"),
}
_OF_GARDENER = ("kubeAPIServer", "kubeControllerManager", "kubeScheduler", "kubeProxy", "kubelet")
_OF_KOPS = (*_OF_GARDENER, "masterKubelet", "controlPlaneKubelet")
_OF_TALOS = (*_COMPONENTS, "proxy")


def of_resource(resource: Resource, beside: Version | None) -> Iterator[Gate]:
    """Yields the gates of an object; `beside` is the version that other objects of its file state."""
    group, kind, tree, at = resource.api_version.partition("/")[0], resource.kind, resource.tree, resource.at
    if group in _OF_KUBELET:
        yield from gates(KUBERNETES, beside, in_map(tree.get(_GATES), at.child(_GATES)))
    elif group == "kubeadm.k8s.io":
        yield from _of_kubeadm(kind, tree, at, release(tree.get("kubernetesVersion")) or beside)
    elif kind == "Cluster" and group in ("kind.x-k8s.io", "kind.sigs.k8s.io"):
        yield from _of_kind(tree, at)
    elif kind in _OF_CLUSTER_API and group.endswith("cluster.x-k8s.io"):
        path = _OF_CLUSTER_API[kind]
        yield from _of_cluster_api(mapping(tree, *path), at.child(*path), release(text(tree, "spec", "version")))
    elif kind == "Shoot" and group == "core.gardener.cloud":
        yield from _of_gardener(tree, at)
    elif kind == "ClusterConfig" and group == "eksctl.io":
        yield from _of_eksctl(tree, at)
    elif kind == "Cluster" and group == "kops.k8s.io":
        version = release(text(tree, "spec", "kubernetesVersion"))
        for name in _OF_KOPS:
            found = in_map(mapping(tree, "spec", name).get(_GATES), at.child("spec", name, _GATES))
            yield from gates(KUBERNETES, version, found)


def of_document(tree: dict[str, Any], at: Place) -> Iterator[Gate]:
    """Yields the gates of a file that holds no object."""
    if "machine" in tree and "cluster" in tree:
        yield from _of_talos(tree, at)
    elif "kube_feature_gates" in tree:
        version = release(tree.get("kube_version"))
        yield from gates(KUBERNETES, version, in_list(tree["kube_feature_gates"], at.child("kube_feature_gates")))
    else:
        for key, value in tree.items():
            if isinstance(key, str) and key.endswith("-arg") and key.startswith("kube"):
                listed = value if isinstance(value, list) else [value]
                yield from gates(KUBERNETES, None, in_arguments(listed, at.child(key)))


def _of_kubeadm(kind: str, tree: Mapping[str, Any], at: Place, version: Version | None) -> Iterator[Gate]:
    if kind == "ClusterConfiguration":
        yield from gates(KUBEADM, version, in_map(tree.get(_GATES), at.child(_GATES)))
        for name in _COMPONENTS:
            found = in_extra_arguments(mapping(tree, name).get("extraArgs"), at.child(name, "extraArgs"))
            yield from gates(KUBERNETES, version, found)
    elif kind in ("InitConfiguration", "JoinConfiguration"):
        path = ("nodeRegistration", "kubeletExtraArgs")
        found = in_extra_arguments(mapping(tree, path[0]).get(path[1]), at.child(*path))
        yield from gates(KUBERNETES, version, found)
    elif kind in ("KubeletConfiguration", "KubeProxyConfiguration"):
        yield from gates(KUBERNETES, version, in_map(tree.get(_GATES), at.child(_GATES)))


def _of_kind(tree: dict[str, Any], at: Place) -> Iterator[Gate]:
    nodes = items(tree, "nodes")
    known = {of_image(text(node, "image")) for node in nodes}
    version = known.pop() if len(known) == 1 else None
    yield from gates(KUBERNETES, version, in_map(tree.get(_GATES), at.child(_GATES)))
    holders = [(tree, at), *((node, at.child("nodes", index)) for index, node in enumerate(nodes))]
    for holder, place in holders:
        for index, patch in enumerate(items(holder, _PATCHES)):
            inner = embedded_mapping(place.child(_PATCHES, index), patch) if isinstance(patch, str) else None
            if inner is not None:
                yield from _of_kubeadm(text(inner.tree, "kind"), inner.tree, Place(inner), version)


def _of_cluster_api(tree: dict[str, Any], at: Place, version: Version | None) -> Iterator[Gate]:
    for kind in ("ClusterConfiguration", "InitConfiguration", "JoinConfiguration"):
        field = kind[0].lower() + kind[1:]
        yield from _of_kubeadm(kind, mapping(tree, field), at.child(field), version)


def _of_gardener(tree: dict[str, Any], at: Place) -> Iterator[Gate]:
    kubernetes = mapping(tree, "spec", "kubernetes")
    version = release(kubernetes.get("version"))
    for name in _OF_GARDENER:
        found = in_map(mapping(kubernetes, name).get(_GATES), at.child("spec", "kubernetes", name, _GATES))
        yield from gates(KUBERNETES, version, found)
    for index, worker in enumerate(items(tree, "spec", "provider", "workers")):
        path = ("kubernetes", "kubelet", _GATES)
        own = release(text(worker, "kubernetes", "version")) or version
        place = at.child("spec", "provider", "workers", index, *path)
        yield from gates(KUBERNETES, own, in_map(mapping(worker, *path), place))


def _of_eksctl(tree: dict[str, Any], at: Place) -> Iterator[Gate]:
    version = release(text(tree, "metadata", "version"))
    for field in ("nodeGroups", "managedNodeGroups"):
        for index, group in enumerate(items(tree, field)):
            path = ("kubeletExtraConfig", _GATES)
            place = at.child(field, index, *path)
            yield from gates(KUBERNETES, version, in_map(mapping(group, *path), place))


def _of_talos(tree: dict[str, Any], at: Place) -> Iterator[Gate]:
    kubelet, place = mapping(tree, "machine", "kubelet"), at.child("machine", "kubelet")
    version = of_image(kubelet.get("image"))
    yield from gates(
        KUBERNETES, version, in_map(mapping(kubelet, "extraConfig", _GATES), place.child("extraConfig", _GATES))
    )
    yield from gates(KUBERNETES, version, in_extra_arguments(kubelet.get("extraArgs"), place.child("extraArgs")))
    for name in _OF_TALOS:
        component = mapping(tree, "cluster", name)
        found = in_extra_arguments(component.get("extraArgs"), at.child("cluster", name, "extraArgs"))
        yield from gates(KUBERNETES, of_image(component.get("image")), found)
