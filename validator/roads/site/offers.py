"""What the values of a site offer to runs.

No chart is rendered for it: what is made of the values here is what the templates make of them, `networks` those of
charts/training-networks, `gpu` those of charts/gpu-rdma-policy. `tests/validator/test_site_chart.py` holds the two
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from validator.facts import quantities
from validator.facts.operator_kinds import SCHEMES
from validator.facts.profiles import DEVICES
from validator.fields import items, mapping, text
from validator.roads.site.run_values import run_values
from validator.site import QUEUE, Site, SiteMonitoring, SiteNetwork, SiteOperator, SiteQueue
from validator.source import Document, Path, Place

# What the charts have where a site says nothing.
RDMA_PREFIX, DEVICE_PREFIX, SRIOV_PREFIX = "rdma", "nvidia.com", "nvidia.com"
OPERATOR_NAMESPACE = "nvidia-network-operator"


def offers(document: Document) -> Site:
    """What the values of a site say."""
    tree = document.tree
    profile = text(tree, "fabric", "profile") or "none"
    made = tuple(_made(document))
    named = tuple(_named(document))
    below = run_values(document, profile, made)
    devices = _devices(profile, mapping(below.tree, "fabric", "resources"))
    return Site(
        document=document,
        profile=None if profile == "none" else profile,
        networks=(*made, *(one for one in named if not any(_same(one, other) for other in made))),
        resources=dict(_resources(document, devices, made)),
        queues=tuple(_queues(document, devices)) if mapping(tree, "queues").get("enabled") is True else None,
        levels=_texts(tree, "queues", "topologyLevels"),
        operator=_operator(mapping(tree, "operator")),
        monitoring=_monitoring(tree.get("monitoring")),
        run_values=below,
    )


def _texts(tree: Any, *path: str) -> tuple[str, ...]:
    return tuple(one for one in items(tree, *path) if isinstance(one, str))


def _same(one: SiteNetwork, other: SiteNetwork) -> bool:
    return one.name == other.name and (not one.namespace or not other.namespace or one.namespace == other.namespace)


def _made(document: Document) -> Iterator[SiteNetwork]:
    """The networks that the site makes: an entry each, or one for each of its rails."""
    tree = document.tree
    if mapping(tree, "networks").get("enabled") is True:
        for index, entry in enumerate(items(tree, "networks", "networks")):
            at = Place(document, ("networks", "networks", index))
            rails = items(entry, "rails")
            for number, rail in enumerate(rails or [{}]):
                name = f"{text(entry, 'name')}-{number}" if rails else text(entry, "name")
                resource = text(rail, "resourceName") or text(entry, "resourceName")
                place = at.child("rails", number) if rails else at
                yield SiteNetwork(text(entry, "namespace"), name, resource, place)
    if _has(tree, "gpu"):
        yield from _sriov_networks(document)


def _sriov_networks(document: Document) -> Iterator[SiteNetwork]:
    """Networks on virtual functions: one for each rail of the policy that has the resource."""
    tree = document.tree
    prefix = text(tree, "gpu", "sriov", "resourcePrefix") or SRIOV_PREFIX
    operator = text(tree, "gpu", "network", "namespace") or OPERATOR_NAMESPACE
    policies = {text(policy, "resourceName"): policy for policy in items(tree, "gpu", "sriov", "policies")}
    for index, entry in enumerate(items(tree, "gpu", "sriov", "networks")):
        at, wanted = Place(document, ("gpu", "sriov", "networks", index)), text(entry, "resourceName")
        namespace, name = text(entry, "networkNamespace") or operator, text(entry, "name")
        rails = items(policies.get(wanted), "rails")
        for number, rail in enumerate(rails):
            resource = text(rail, "resourceName") or f"{wanted}{number}"
            yield SiteNetwork(namespace, f"{name}-{number}", f"{prefix}/{resource}", at)
        if not rails:
            yield SiteNetwork(namespace, name, f"{prefix}/{wanted}", at)


def _named(document: Document) -> Iterator[SiteNetwork]:
    """The networks that the site names for its runs; others have made them."""
    for index, entry in enumerate(items(document.tree, "fabric", "networks")):
        at = Place(document, ("fabric", "networks", index))
        yield SiteNetwork(text(entry, "namespace"), text(entry, "name"), "", at)


def _has(tree: Any, part: str) -> bool:
    """Whether the site has this part, which is installed unless it says otherwise."""
    return isinstance(tree.get(part), dict) and tree[part].get("enabled") is not False


def _devices(profile: str, others: Mapping[str, Any]) -> tuple[str, ...]:
    """The extended resources that every run on the site asks for."""
    named = dict.fromkeys((*DEVICES.get(profile, ()), *others))
    return tuple(name for name in named if others.get(name, 1) is not None)


def _resources(
    document: Document, devices: tuple[str, ...], made: Iterable[SiteNetwork]
) -> Iterator[tuple[str, Place]]:
    """Devices that the site offers, or takes for granted."""
    tree = document.tree
    yield from ((name, Place(document, ("fabric", "profile"))) for name in devices)
    for index, queue in enumerate(items(tree, "queues", "clusterQueues")):
        for number, quota in enumerate(items(queue, "quotas")):
            at = Place(document, ("queues", "clusterQueues", index, "quotas", number, "resources"))
            yield from ((name, at.child(name)) for name in mapping(quota, "resources") if "/" in name)
    for name, count in mapping(tree, "fabric", "resources").items():
        if count is not None:
            yield name, Place(document, ("fabric", "resources", name))
    yield from ((network.resource, network.at) for network in made if network.resource)
    if _has(tree, "gpu"):
        yield from _plugins(document)


def _plugins(document: Document) -> Iterator[tuple[str, Place]]:
    tree = document.tree
    if mapping(tree, "gpu", "rdma").get("sharedDevices") is None:
        at = Place(document, ("gpu", "profile"))
        yield from ((name, at) for name in DEVICES.get(text(tree, "gpu", "profile"), ()))
    pools = enumerate(items(tree, "gpu", "network", "pools"))
    places: list[tuple[Any, Path]] = [(pool, ("gpu", "network", "pools", number)) for number, pool in pools]
    for above, path in ((mapping(tree, "gpu", "rdma"), ("gpu", "rdma")), *places):
        for field, prefix in (("sharedDevices", RDMA_PREFIX), ("hostDevices", DEVICE_PREFIX)):
            for index, entry in enumerate(items(above, field)):
                at = Place(document, (*path, field, index, "name"))
                yield f"{text(entry, 'prefix') or prefix}/{text(entry, 'name')}", at
    prefix = text(tree, "gpu", "sriov", "resourcePrefix") or SRIOV_PREFIX
    for index, policy in enumerate(items(tree, "gpu", "sriov", "policies")):
        at, name = Place(document, ("gpu", "sriov", "policies", index)), text(policy, "resourceName")
        rails = items(policy, "rails")
        for number, rail in enumerate(rails):
            yield f"{prefix}/{text(rail, 'resourceName') or f'{name}{number}'}", at.child("rails", number)
        if not rails:
            yield f"{prefix}/{name}", at.child("resourceName")


def _queues(document: Document, devices: tuple[str, ...]) -> Iterator[SiteQueue]:
    tree = document.tree
    name = text(tree, "queues", "name") or QUEUE
    for index, queue in enumerate(items(tree, "queues", "clusterQueues")):
        at = Place(document, ("queues", "clusterQueues", index))
        # What comes with the fabric and has no quota gets one that never ends: Kueue admits no run without.
        quotas = {**dict.fromkeys(devices), **_quotas(queue)}
        for namespace in items(queue, "namespaces"):
            yield SiteQueue(str(namespace), name, text(queue, "name"), quotas, at)


def _quotas(queue: Any) -> dict[str, float | None]:
    """The sum over all flavours, with what the cohort lends at most."""
    total: dict[str, float | None] = {}
    for quota in items(queue, "quotas"):
        limits = mapping(quota, "borrowingLimits")
        for resource, given in mapping(quota, "resources").items():
            known = total.get(resource, 0.0)
            borrowed = quantities.number(limits.get(resource)) if text(queue, "cohort") else 0.0
            own = quantities.number(given)
            total[resource] = None if None in (known, borrowed, own) else (known or 0) + (borrowed or 0) + (own or 0)
    return total


def _operator(values: dict[str, Any]) -> SiteOperator | None:
    if values.get("enabled") is False:
        return None
    schemes = _texts(values, "schemes") or tuple(SCHEMES)
    return SiteOperator(
        kinds=frozenset(SCHEMES[one.lower()] for one in schemes if one.lower() in SCHEMES),
        brings_definitions=mapping(values, "crds").get("enabled") is not False,
        namespace=text(values, "watchNamespace"),
        gang=text(values, "gangScheduler", "name"),
    )


def _monitoring(values: Any) -> SiteMonitoring | None:
    if not isinstance(values, dict):
        return None
    runs = mapping(values, "monitors", "runs").get("enabled") is not False
    return SiteMonitoring(values.get("enabled") is not False, runs)
