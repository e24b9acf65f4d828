"""Compares a live cluster with its site: charts/training-platform, rendered as Helm would for this cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gotemplate.errors import FailedError
from gotemplate.rendering import RenderedObject
from trainyard.commands.audit import nodes
from trainyard.commands.audit.cluster import Cluster
from trainyard.commands.audit.live import Live, Tree
from trainyard.commands.audit.problem import Problem
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.jobs.kubeflow import POD_GROUP_VERSIONS
from trainyard.loaders.site.chart import platform_chart, platform_objects, platform_values
from trainyard.model.site import Site

# The minor version of Kubernetes 1 from which the charts install.
OLDEST = 29
_NETWORKS = "k8s.cni.cncf.io/v1"
_DEFINITIONS = "apiextensions.k8s.io/v1"
_STORAGE = "storage.k8s.io/v1"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
# What installs an API that a site needs and the charts of the platform do not bring.
_INSTALLERS = {
    "kueue.x-k8s.io": "Kueue",
    "nvidia.com": "NVIDIA's GPU operator",
    "mellanox.com": "NVIDIA's network operator",
    "sriovnetwork.openshift.io": "the SR-IOV network operator",
    "nfd.k8s-sigs.io": "Node Feature Discovery",
}


class Answer(NamedTuple):
    """The problems, what could not be checked, and the number of objects that were read."""

    problems: list[Problem]
    notes: list[str]
    read: int


def audit(cluster: Cluster, site: Site, release: str, namespace: str) -> Answer:
    """Returns how far a cluster fulfils a site. Only reads. Raises `ClusterError`."""
    live = Live(cluster)
    version = cluster.version()
    found = list(_version(version))
    made = list(_rendered(live, site, release, namespace, version, found))
    first = f"{release}-run-values"
    kept = live.get("v1", "ConfigMap", first, namespace)
    if kept is None:
        message = f"the release `{release}` is not in namespace `{namespace}`"
        remedy = (
            f"helm install {release} charts/training-platform -n {namespace} -f site.yaml; or name it: --release, -n"
        )
        found.append(Problem(f"release/{namespace}/{release}", message, remedy))
    else:
        found += _release(kept, release, namespace)
        found += (problem for one in made for problem in _object(live, one, release, namespace))
    listed = live.all("v1", "Node")
    if listed is not None:
        found += nodes.problems(site, listed)
    found += _networks(live, site, namespace)
    found += _storage(live, site)
    found += _classes(live, site)
    found += _gangs(live, site, namespace)
    return Answer(list(dict.fromkeys(found)), live.notes, live.read)


def _version(version: str | None) -> Iterator[Problem]:
    minor = re.match(r"v1\.(\d+)\.", version or "")
    if minor and int(minor[1]) < OLDEST:
        message = f"Kubernetes is {version}; the charts need v1.{OLDEST} or newer"
        yield Problem("version", message, "upgrade the cluster")


def _rendered(
    live: Live, site: Site, release: str, namespace: str, version: str | None, found: list[Problem]
) -> Iterator[RenderedObject]:
    values, about = platform_values(site.document.tree), {"Name": release, "Namespace": namespace}
    kube_version = {"kube_version": version.removeprefix("v")} if version else {}
    try:
        made = platform_objects(values, about, live, **kube_version)
    except FailedError as error:
        # The chart itself names what the cluster lacks. The rest is compared as if it had everything.
        found.append(
            Problem("chart/training-platform", error.message, "install what is missing, then upgrade the release")
        )
        made = platform_objects(values, about)
    # A Secret is never read.
    return (one for one in made if not one.is_hook and text(one.tree, "kind") != "Secret")


def _release(kept: Tree, release: str, namespace: str) -> Iterator[Problem]:
    chart = text(kept, "metadata", "labels", "helm.sh/chart")
    here = f"training-platform-{platform_chart().about['version']}"
    if chart and chart != here:
        message = f"the cluster has {chart}, and this version of Trainyard has {here}"
        remedy = f"helm upgrade {release} charts/training-platform -n {namespace} -f site.yaml"
        yield Problem(f"release/{namespace}/{release}", message, remedy)


def _object(live: Live, made: RenderedObject, release: str, namespace: str) -> Iterator[Problem]:
    tree = made.tree
    # Definitions are rendered without their version, see `platform_chart`.
    api, kind, name = text(tree, "apiVersion") or _DEFINITIONS, text(tree, "kind"), text(tree, "metadata", "name")
    place = text(tree, "metadata", "namespace") or namespace
    upgrade = f"helm upgrade {release} charts/training-platform -n {namespace} -f site.yaml"
    if kind not in live.kinds(api):
        group = api.rpartition("/")[0]
        yield Problem(
            f"api/{api}",
            "the cluster does not serve it, or not all of its kinds",
            f"install {_INSTALLERS.get(group, group)}",
        )
        return
    _, namespaced = live.kinds(api)[kind]
    subject = f"{kind.lower()}/{place}/{name}" if namespaced else f"{kind.lower()}/{name}"
    found = live.get(api, kind, name, place)
    if found is None:
        yield Problem(subject, "it does not exist", upgrade)
    elif found:
        yield from _state(subject, tree, found, place)
        yield from _images(subject, tree, found, upgrade)


def _state(subject: str, tree: Any, found: Tree, namespace: str) -> Iterator[Problem]:
    """Yields why an object does not work."""
    status, kind = mapping(found, "status"), text(tree, "kind")
    ready, wanted = {
        "Deployment": (status.get("availableReplicas") or 0, mapping(tree, "spec").get("replicas", 1)),
        "DaemonSet": (status.get("numberReady") or 0, status.get("desiredNumberScheduled") or 0),
    }.get(kind, (0, 0))
    if ready < wanted:
        name = subject.rpartition("/")[2]
        remedy = f"kubectl -n {namespace} describe {kind.lower()} {name}"
        yield Problem(subject, f"{ready} of {wanted} pods are ready", remedy)
    condition = {"CustomResourceDefinition": "Established", "ClusterQueue": "Active", "LocalQueue": "Active"}.get(kind)
    for one in items(status, "conditions"):
        if condition and text(one, "type") == condition and text(one, "status") == "False":
            yield Problem(subject, f"it is not {condition}: {text(one, 'message')}", f"kubectl describe {kind.lower()}")


def _images(subject: str, tree: Any, found: Tree, upgrade: str) -> Iterator[Problem]:
    path = ("spec", "template", "spec", "containers")
    live = {text(one, "name"): text(one, "image") for one in items(found, *path)}
    for container in items(tree, *path):
        image, there = text(container, "image"), live.get(text(container, "name"), "")
        if there and image != there:
            yield Problem(subject, f"it runs {there}, and the site says {image}", upgrade)


def _networks(live: Live, site: Site, namespace: str) -> Iterator[Problem]:
    """Yields networks that runs attach and that others should have made."""
    kind = "NetworkAttachmentDefinition"
    for network in site.networks if kind in live.kinds(_NETWORKS) else ():
        if network.at.path[:1] == ("fabric",) and network.name:
            place = network.namespace or namespace
            if live.get(_NETWORKS, kind, network.name, place) is None:
                subject = f"networkattachmentdefinition/{place}/{network.name}"
                yield Problem(subject, "runs attach this network, which does not exist", "create it", network.at)


def _storage(live: Live, site: Site) -> Iterator[Problem]:
    """Yields storage classes that the values of runs name and that are missing."""
    listed = live.all(_STORAGE, "StorageClass")
    if listed is None:
        return
    names = {text(one, "metadata", "name") for one in listed}
    tree, at = site.run_values.tree, Place(site.document, ("runs",))
    wanted = [text(tree, part, "storageClassName") for part in ("checkpoints", "scratch")]
    for name in sorted({name for name in wanted if name and name not in names}):
        known = ", ".join(sorted(names)) or "none"
        yield Problem(f"storageclass/{name}", "runs use this class, which does not exist", f"write one of: {known}", at)
    annotations = [mapping(one, "metadata", "annotations") for one in listed]
    if not wanted[0] and not any(one.get(_DEFAULT_CLASS) == "true" for one in annotations):
        message = "checkpoints of runs get the default class, and the cluster has none"
        yield Problem(
            "storageclass", message, "write runs.checkpoints.storageClassName, of a class with ReadWriteMany", at
        )


def _classes(live: Live, site: Site) -> Iterator[Problem]:
    """Yields classes of pods that the values of runs name and that are missing."""
    for key, api, kind in (
        ("priorityClassName", "scheduling.k8s.io/v1", "PriorityClass"),
        ("runtimeClassName", "node.k8s.io/v1", "RuntimeClass"),
    ):
        name = text(site.run_values.tree, "placement", key)
        if name and live.get(api, kind, name) is None:
            at = Place(site.document, ("runs", "placement", key))
            yield Problem(f"{kind.lower()}/{name}", "runs use this class, which does not exist", "create it", at)


def _gangs(live: Live, site: Site, namespace: str) -> Iterator[Problem]:
    """Yields the gang schedulers of the operator and of Trainer whose PodGroups the cluster does not serve."""
    wanted = dict.fromkeys(sorted(site.trainer_gangs or ()), ("trainer", "gangSchedulers"))
    if site.operator is not None and site.operator.gang:
        # The operator takes every other name for a scheduler with the plugin Coscheduling.
        scheduler = "volcano" if site.operator.gang == "volcano" else "scheduler-plugins"
        wanted[scheduler] = ("operator", "gangScheduler")
    for scheduler, path in wanted.items():
        version = POD_GROUP_VERSIONS[scheduler]
        if "PodGroup" not in live.kinds(version):
            message = f"the cluster does not serve PodGroups of {scheduler}, so no gang of this site starts"
            restart = f"kubectl -n {namespace} rollout restart deployment"
            remedy = f"install {scheduler}, then restart the controllers, which look for it at their start: {restart}"
            yield Problem(f"api/{version}", message, remedy, Place(site.document, path))
