"""All feature gates that the files of a project set."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.gates import clusters, programs
from trainyard.analysis.gates.setting import Gate, of_image, release
from trainyard.analysis.jobs.controllers import kueue_of
from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Target
from trainyard.facts.feature_gates import KUBEADM, KUBERNETES, KUEUE, Version
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Resource

_PROXY, _CONFIGURATION_OF_PROXY = "kube-proxy", "KubeProxyConfiguration"


def gates_of(project: Project, target: Target) -> Iterator[Gate]:
    """Yields the gates in the files. The target tells the version where the files do not."""
    wanted = {KUBERNETES: target.kubernetes, KUBEADM: target.kubernetes, KUEUE: target.kueue}
    for gate in _gates.of(project):
        yield gate if gate.version is not None else gate._replace(version=wanted.get(gate.program))


def kubernetes_of(project: Project, resource: Resource, target: Target) -> Version | None:
    """Returns the version of Kubernetes for the configuration of a component: that of its file, or the target."""
    found = _stated.of(project).get(resource.at.document.source.name)
    if found is None and resource.kind == _CONFIGURATION_OF_PROXY:
        found = _proxy(project)
    return found or target.kubernetes


def _find(project: Project) -> list[Gate]:
    return list(_all(project))


def _all(project: Project) -> Iterator[Gate]:
    nothing = Target()
    for resource in project.resources:
        if resource.kind == "Configuration" and resource.api_version.startswith("config.kueue.x-k8s.io"):
            yield from programs.of_kueue(resource.tree, resource.at, kueue_of(project, None))
        else:
            yield from clusters.of_resource(resource, kubernetes_of(project, resource, nothing))
    for container in _containers(project):
        yield from programs.of_container(container)
    for one in releases(project):
        yield from programs.of_release(one)
    for document in project.documents:
        if isinstance(document.tree, dict) and "kind" not in document.tree:
            yield from clusters.of_document(document.tree, Place(document))
            if isinstance(mapping(document.tree, "controllerManager").get("featureGates"), list):
                yield from programs.of_kueue_values(document.tree, Place(document), None)


_gates: LastIndex[Project, list[Gate]] = LastIndex(_find)


def _containers(project: Project) -> Iterator[Container]:
    for run in project.runs:
        for role in run.roles:
            yield from (*role.pod.containers, *role.pod.init_containers)


def _find_stated(project: Project) -> dict[str, Version | None]:
    """Returns the version that the objects of each file state for kubeadm; None if they differ."""
    found: dict[str, Version | None] = {}
    for resource in project.of_kind("ClusterConfiguration"):
        version = release(text(resource.tree, "kubernetesVersion"))
        name = resource.at.document.source.name
        found[name] = version if found.get(name, version) == version else None
    return found


_stated: LastIndex[Project, dict[str, Version | None]] = LastIndex(_find_stated)


def _find_proxy(project: Project) -> frozenset[Version]:
    images = (container.image or "" for container in _containers(project))
    return frozenset(filter(None, (of_image(image) for image in images if _PROXY in image)))


_proxies: LastIndex[Project, frozenset[Version]] = LastIndex(_find_proxy)


def _proxy(project: Project) -> Version | None:
    known = _proxies.of(project)
    return next(iter(known)) if len(known) == 1 else None
