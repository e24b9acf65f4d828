"""Compares the nodes of a cluster with what its site requires: devices, labels of flavours, levels of the topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.commands.audit.problem import Problem
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.site import Site

Tree = Mapping[str, Any]


def problems(site: Site, nodes: Sequence[Tree]) -> Iterator[Problem]:
    """Yields the problems of the nodes."""
    yield from _devices(site, nodes)
    queues = mapping(site.document.tree, "queues")
    if queues.get("enabled") is True:
        for index, flavor in enumerate(items(queues, "flavors")):
            yield from _flavor(site, index, flavor, nodes)


def _devices(site: Site, nodes: Sequence[Tree]) -> Iterator[Problem]:
    for resource, place in site.resources.items():
        if "/" in resource and not any(_offers(node, resource) for node in nodes):
            message = f"no node offers {resource}, which runs of this site request: their pods would stay Pending"
            yield Problem(f"resource/{resource}", message, "check its device plugin: kubectl describe nodes", place)


def _flavor(site: Site, index: int, flavor: Any, nodes: Sequence[Tree]) -> Iterator[Problem]:
    name, wanted = text(flavor, "name"), mapping(flavor, "nodeLabels")
    place = Place(site.document, ("queues", "flavors", index))
    own = [node for node in nodes if wanted.items() <= mapping(node, "metadata", "labels").items()]
    if not own:
        labels = ",".join(f"{key}={value}" for key, value in wanted.items())
        message = f"no node has the labels of the flavour: {labels}" if labels else "the cluster has no node"
        yield Problem(f"resourceflavor/{name}", message, "kubectl get nodes --show-labels shows what nodes have", place)
        return
    for level in site.levels:
        without = [text(node, "metadata", "name") for node in own if level not in mapping(node, "metadata", "labels")]
        if without:
            message = f"{len(without)} of {len(own)} nodes lack the topology label {level}, such as {without[0]}"
            yield Problem(
                f"resourceflavor/{name}", message, f"label them, or remove {level} from queues.topologyLevels", place
            )
    yield from _quotas(site, name, own)


def _quotas(site: Site, flavor: str, nodes: Sequence[Tree]) -> Iterator[Problem]:
    """Yields devices of which the queues promise more than the nodes of a flavour have."""
    promised: dict[str, float] = {}
    for queue in items(site.document.tree, "queues", "clusterQueues"):
        for quota in items(queue, "quotas"):
            for resource, quantity in mapping(quota, "resources").items() if text(quota, "flavor") == flavor else ():
                promised[resource] = promised.get(resource, 0) + (parse_quantity(quantity) or 0)
    for resource, count in promised.items():
        offered = sum(_offers(node, resource) for node in nodes)
        if "/" in resource and 0 < offered < count:
            message = f"the quotas sum up to {count:g} {resource}, and its {len(nodes)} nodes offer {offered:g}"
            remedy = "lower the quotas: Kueue admits runs for which there are no devices"
            yield Problem(
                f"resourceflavor/{flavor}", message, remedy, Place(site.document, ("queues", "clusterQueues"))
            )


def _offers(node: Tree, resource: str) -> float:
    return parse_quantity(mapping(node, "status", "allocatable").get(resource)) or 0
