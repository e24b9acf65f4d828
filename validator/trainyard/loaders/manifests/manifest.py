"""The manifest loader: documents of any origin to the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded, embedded_mapping
from trainyard.document.source import BrokenText
from trainyard.facts.kubernetes.api_limits import MAX_OBJECT, least_size
from trainyard.loaders.manifests import jobs
from trainyard.loaders.manifests.deepspeed import deepspeeds
from trainyard.loaders.manifests.surroundings import FindScript, Neighbourhood
from trainyard.loaders.manifests.templates import may_hold_pods, wrapped
from trainyard.loaders.origins import RenderedDocument
from trainyard.loaders.schemas.checking import misfits
from trainyard.loaders.schemas.table import CONFIGURATIONS as OF_KUBERNETES
from trainyard.loaders.schemas.task_files import misfits_of_tasks
from trainyard.model.run import Network, Project, Resource

# A shorter text cannot give too large an object, unless aliases repeat its content.
SMALL = 64 * 1024
# Groups of configurations that a ConfigMap holds for a component.
CONFIGURATIONS = (*OF_KUBERNETES, "kubeproxy.config.k8s.io/")
# Objects that hold the values of a chart, and the section of Kueue's values that holds its configuration.
_RELEASES = ("Application", "HelmRelease")
_MANAGER = "managerConfig"
RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"
# kustomize and kpt read such an object, and give it to no cluster.
# Source: kubernetes-sigs/kustomize api/internal/konfig: IgnoredByKustomizeAnnotation; cmd/config docs, local-config.
_LOCAL = "config.kubernetes.io/local-config"


def load_project(documents: Iterable[Document], find_script: FindScript | None = None) -> Project:
    """Returns everything in the documents as one project. `find_script` finds scripts that lie beside their files."""
    known = tuple(documents)
    unread: list[Place] = []
    resources = tuple(resource for document in known for resource in _resources(document, unread))
    kinds: dict[str, list[Resource]] = {}
    for resource in resources:
        kinds.setdefault(resource.kind, []).append(resource)
    near = Neighbourhood(kinds.get("ConfigMap", ()), find_script)
    accepted = (resource for resource in resources if not resource.is_too_large)
    found = (jobs.load_run(resource, near.around(resource.at), kinds) for resource in accepted)
    runs = tuple(run for run in found if run is not None)
    return Project(
        runs=runs,
        networks=tuple(_network(resource) for resource in kinds.get("NetworkAttachmentDefinition", ())),
        deepspeeds=tuple(deepspeeds(known, resources, runs, near)),
        resources=resources,
        documents=(*known, *near.scripts),
        kinds=kinds,
        unread=tuple(unread),
        misfits=(*misfits(resources, runs), *misfits_of_tasks(known)),
    )


def _resources(document: Document, unread: list[Place]) -> Iterator[Resource]:
    tree = document.tree
    if not isinstance(tree, dict):
        return
    if _MANAGER in tree and "kind" not in tree:
        yield from _of_values(tree, Place(document))
    if not document.may_be_object or not isinstance(tree.get("kind"), str):
        return
    if tree["kind"].endswith("List") and isinstance(tree.get("items"), list):
        for index, item in enumerate(tree["items"]):
            if isinstance(item, dict):
                yield from _wrapped(item, Place(document, ("items", index)), unread)
        return
    yield from _wrapped(tree, Place(document), unread)


def _wrapped(
    tree: dict[str, Any], at: Place, unread: list[Place], wrapper: Resource | None = None
) -> Iterator[Resource]:
    """Yields an object and those that it wraps, and adds the texts of objects that cannot be read."""
    if mapping(tree, "metadata", "annotations").get(_LOCAL) == "true":
        return
    resource = _resource(tree, at, wrapper)
    yield resource
    if resource.kind == "ConfigMap":
        yield from _configurations(mapping(resource.tree, "data"), resource.at.child("data"))
    elif resource.kind in _RELEASES:
        yield from _of_release(mapping(resource.tree, "spec"), resource.at.child("spec"))
    if may_hold_pods(resource) and not jobs.is_job(resource):
        for inner, place in wrapped(tree, at):
            if inner is None:
                unread.append(place)
            else:
                yield from _wrapped(inner, place, unread, resource)


def _of_release(spec: dict[str, Any], at: Place) -> Iterator[Resource]:
    """Yields the configurations in values of charts that a controller of releases gets."""
    yield from _of_values(mapping(spec, "values"), at.child("values"))
    sources = [(mapping(spec, "source"), at.child("source"))]
    sources += [(one, at.child("sources", index)) for index, one in enumerate(items(spec, "sources"))]
    for source, place in sources:
        yield from _of_values(mapping(source, "helm", "valuesObject"), place.child("helm", "valuesObject"))


def _of_values(values: dict[str, Any], at: Place) -> Iterator[Resource]:
    yield from _configurations(mapping(values, _MANAGER), at.child(_MANAGER))


def _configurations(data: dict[str, Any], at: Place) -> Iterator[Resource]:
    """Yields the configurations of components in texts, with the kinds and versions of objects."""
    for key, value in data.items():
        if isinstance(value, str) and any(group in value for group in CONFIGURATIONS):
            inner = embedded_mapping(at.child(key), value)
            if (
                inner is not None
                and text(inner.tree, "kind")
                and text(inner.tree, "apiVersion").startswith(CONFIGURATIONS)
            ):
                yield _resource(inner.tree, Place(inner), None)


def _resource(tree: dict[str, Any], at: Place, wrapper: Resource | None) -> Resource:
    metadata = mapping(tree, "metadata")
    return Resource(
        kind=text(tree, "kind"),
        api_version=text(tree, "apiVersion"),
        name=text(metadata, "name") or text(metadata, "generateName"),
        namespace=_namespace(text(metadata, "namespace"), at),
        tree=tree,
        at=at,
        is_too_large=at.document.weight > SMALL and least_size(tree, MAX_OBJECT) > MAX_OBJECT,
        wrapper=wrapper,
    )


def _namespace(name: str, at: Place) -> str:
    """Returns the namespace of an object; empty if it is that of a release, which may be installed into any."""
    document = at.document
    return "" if isinstance(document, RenderedDocument) and name == document.assumed_namespace else name


def _network(resource: Resource) -> Network:
    at = resource.at.child("spec", "config")
    config: dict[str, Any] | None = None
    plugins: tuple[tuple[dict[str, Any], Place], ...] = ()
    fault = None
    raw = mapping(resource.tree, "spec").get("config")
    if isinstance(raw, str) and raw.strip():
        inner = embedded(at, raw)
        fault = _json_fault(raw)
        if not isinstance(inner, BrokenText) and isinstance(inner.tree, dict) and fault is None:
            config = inner.tree
            plugins = tuple(_plugins(config, Place(inner)))
    return Network(
        name=resource.name,
        namespace=resource.namespace,
        resource=text(resource.tree, "metadata", "annotations", RESOURCE_NAME) or None,
        config=config,
        plugins=plugins,
        fault=fault,
        config_at=at,
        at=resource.at,
    )


def _json_fault(raw: str) -> str | None:
    import json

    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None if isinstance(value, dict) else "it is not a JSON object"


def _plugins(config: dict[str, Any], at: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    listed = config.get("plugins")
    if not isinstance(listed, list):
        yield config, at
        return
    for index, plugin in enumerate(listed):
        if isinstance(plugin, dict):
            yield plugin, at.child("plugins", index)
