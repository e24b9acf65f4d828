"""Reads from the rendered objects what a site offers to runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from gotemplate.origin import Origin
from gotemplate.rendering import RenderedObject
from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.source import Path
from trainyard.facts.hardware.device_plugins import PLUGINS, plugin_devices
from trainyard.facts.jobs.kubeflow import POD_GROUPS
from trainyard.facts.jobs.operator_kinds import API, SCHEMES
from trainyard.facts.jobs.run_labels import KUBEFLOW
from trainyard.facts.kubernetes import quantities
from trainyard.facts.profiles import profile_devices as devices_of
from trainyard.loaders.manifests.manifest import RESOURCE_NAME
from trainyard.loaders.marks import leaves
from trainyard.loaders.site.chart import NAMESPACE
from trainyard.loaders.site.run_values import run_values
from trainyard.model.site import Site, SiteMonitoring, SiteNetwork, SiteOperator, SiteQueue

# The prefix with which NVIDIA's chart starts the SR-IOV operator.
_SRIOV_PREFIX = "nvidia.com"

Objects = Mapping[str, list[RenderedObject]]


def offers(document: Document, parts: Collection[str], made: Iterable[RenderedObject]) -> Site:
    """Returns the site of the objects that a document's values render; `parts` are the subcharts that are on."""
    objects: dict[str, list[RenderedObject]] = defaultdict(list)
    for one in made:
        objects[text(one.tree, "kind")].append(one)
    below = run_values(document, objects["ConfigMap"])
    profile = text(below.tree, "fabric", "profile")
    networks = (*_networks(document, objects), *_sriov_networks(document, objects))
    named = _named(document, below)
    return Site(
        document=document,
        profile=None if profile == "none" else profile,
        networks=(*networks, *(one for one in named if not any(_same(one, other) for other in networks))),
        resources=dict(_resources(document, below, profile, networks, objects)),
        queues=tuple(_queues(document, objects)) or None,
        levels=tuple(text(level, "nodeLabel") for level in _entries(objects["Topology"], "spec", "levels")),
        operator=_operator(objects),
        trainer_gangs=_trainer_gangs(objects),
        monitoring=_monitoring(document, parts, objects),
        run_values=below,
    )


def _same(one: SiteNetwork, other: SiteNetwork) -> bool:
    return one.name == other.name and (not one.namespace or not other.namespace or one.namespace == other.namespace)


def _entries(made: Iterable[RenderedObject], *path: str) -> Iterator[Any]:
    """Yields the items of a list that each of the objects has."""
    return (item for one in made for item in items(one.tree, *path))


def _entry(document: Document, made: RenderedObject) -> Place:
    """Returns the place of the list item in the values, or of a nested item, that an object is rendered for."""
    entry = _item(made.origins.get(("metadata", "name")))
    whole = _item(made.origins.get(()))
    return Place(document, whole if whole[: len(entry)] == entry else entry)


def _item(origin: Origin | None) -> Path:
    """Returns the path up to its last index."""
    path = origin.path if origin is not None else ()
    return path[: max((number for number, step in enumerate(path, 1) if isinstance(step, int)), default=0)]


def _name(made: RenderedObject) -> str:
    return text(made.tree, "metadata", "name")


def _namespace(made: RenderedObject) -> str:
    """Returns the namespace of an object, empty for that of the release, which a site does not name."""
    namespace = text(made.tree, "metadata", "namespace")
    return "" if namespace == NAMESPACE else namespace


def _networks(document: Document, objects: Objects) -> Iterator[SiteNetwork]:
    for one in objects["NetworkAttachmentDefinition"]:
        resource = text(one.tree, "metadata", "annotations", RESOURCE_NAME)
        yield SiteNetwork(_namespace(one), _name(one), resource, _entry(document, one))


def _sriov_networks(document: Document, objects: Objects) -> Iterator[SiteNetwork]:
    """Yields networks on virtual functions, which the SR-IOV operator creates in its own namespace by default."""
    for one in (*objects["SriovNetwork"], *objects["SriovIBNetwork"]):
        namespace = text(one.tree, "spec", "networkNamespace") or _namespace(one)
        resource = f"{_SRIOV_PREFIX}/{text(one.tree, 'spec', 'resourceName')}"
        yield SiteNetwork(namespace, _name(one), resource, _entry(document, one))


def _named(document: Document, below: Document) -> Iterator[SiteNetwork]:
    """Yields the networks that runs attach; those that the site does not define exist already."""
    for index, entry in enumerate(items(below.tree, "fabric", "networks")):
        at = Place(document, ("fabric", "networks", index))
        yield SiteNetwork(text(entry, "namespace"), text(entry, "name"), "", at)


def _resources(
    document: Document, below: Document, profile: str, networks: Iterable[SiteNetwork], objects: Objects
) -> Iterator[tuple[str, Place]]:
    """Yields devices that the site offers or presupposes, each with its place in the values."""
    said = mapping(below.tree, "fabric", "resources")
    for name in dict.fromkeys((*devices_of(profile), *said)):
        if said.get(name, 1) is not None:
            yield name, Place(document, ("fabric", "profile"))
    for queue in objects["ClusterQueue"]:
        for path, resource in _quotas(queue):
            origin = queue.origins.get((*path, "nominalQuota"))
            if origin is not None and "/" in text(resource, "name"):
                yield text(resource, "name"), Place(document, origin.path)
    given = (name for name, count in said.items() if count is not None)
    yield from ((name, Place(document, ("fabric", "resources", name))) for name in given)
    yield from ((network.resource, network.at) for network in networks if network.resource)
    for one in (*objects["NicClusterPolicy"], *objects["NicNodePolicy"]):
        for plugin in PLUGINS:
            for name in plugin_devices(text(one.tree, "spec", plugin, "config")):
                yield name, _written(document, name.partition("/")[2])
    for one in objects["SriovNetworkNodePolicy"]:
        origin = one.origins.get(("spec", "resourceName"))
        at = Place(document, origin.path) if origin is not None else _entry(document, one)
        yield f"{_SRIOV_PREFIX}/{text(one.tree, 'spec', 'resourceName')}", at


def _written(document: Document, device: str) -> Place:
    """Returns the place of a device's name in the policies of the values, or else of their profile."""
    for path, value in leaves(mapping(document.tree, "gpu"), ("gpu",)):
        if value == device:
            return Place(document, path)
    return Place(document, ("gpu", "profile"))


def _quotas(queue: RenderedObject) -> Iterator[tuple[Path, Any]]:
    """Yields the resources of all flavours of a ClusterQueue, with the path to each."""
    for group, covered in enumerate(items(queue.tree, "spec", "resourceGroups")):
        for number, flavor in enumerate(items(covered, "flavors")):
            for index, resource in enumerate(items(flavor, "resources")):
                yield ("spec", "resourceGroups", group, "flavors", number, "resources", index), resource


def _queues(document: Document, objects: Objects) -> Iterator[SiteQueue]:
    queues = {_name(one): one for one in objects["ClusterQueue"]}
    for local in objects["LocalQueue"]:
        name = text(local.tree, "spec", "clusterQueue")
        yield SiteQueue(_namespace(local), _name(local), name, _totals(queues[name]), _entry(document, queues[name]))


def _totals(queue: RenderedObject) -> dict[str, float | None]:
    """Returns the sums over all flavours, with the most that the cohort lends."""
    lends = bool(text(queue.tree, "spec", "cohort") or text(queue.tree, "spec", "cohortName"))
    total: dict[str, float | None] = {}
    for _, resource in _quotas(queue):
        known = total.get(resource["name"], 0.0)
        borrowed = quantities.parse_quantity(resource.get("borrowingLimit")) if lends else 0.0
        own = quantities.parse_quantity(resource["nominalQuota"])
        both = None if known is None or borrowed is None or own is None else known + borrowed + own
        total[resource["name"]] = both
    return total


def _operator(objects: Objects) -> SiteOperator | None:
    """Returns the training operator, which its options tell from other Deployments."""
    for container in _entries(objects["Deployment"], "spec", "template", "spec", "containers"):
        options: dict[str, list[str]] = defaultdict(list)
        for argument in items(container, "args"):
            name, _, value = str(argument).partition("=")
            options[name].append(value)
        if "--enable-scheme" in options:
            group = API.partition("/")[0]
            definitions = map(_name, objects["CustomResourceDefinition"])
            return SiteOperator(
                kinds=frozenset(SCHEMES[scheme] for scheme in options["--enable-scheme"]),
                brings_definitions=any(name.endswith(f".{group}") for name in definitions),
                namespace="".join(options["--namespace"]),
                gang="".join(options["--gang-scheduler-name"]),
            )
    return None


def _trainer_gangs(objects: Objects) -> frozenset[str] | None:
    """Returns the gang schedulers that Kubeflow Trainer has rights for, None if the site does not install it."""
    for role in objects["ClusterRole"]:
        rules = items(role.tree, "rules")
        if any("trainjobs/status" in items(one, "resources") and "patch" in items(one, "verbs") for one in rules):
            groups = [
                one for one in rules if "podgroups" in items(one, "resources") and "create" in items(one, "verbs")
            ]
            return frozenset(POD_GROUPS[group] for one in groups for group in items(one, "apiGroups"))
    return None


def _monitoring(document: Document, parts: Collection[str], objects: Objects) -> SiteMonitoring | None:
    """Returns None if the values do not mention monitoring: it may exist without the site."""
    if not isinstance(mapping(document.tree).get("monitoring"), dict):
        return None
    selected = _entries(objects["PodMonitor"], "spec", "selector", "matchExpressions")
    return SiteMonitoring("monitoring" in parts, any(text(entry, "key") == KUBEFLOW.run for entry in selected))
