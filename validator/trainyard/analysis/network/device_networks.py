"""Devices of the networks that pods join, as far as operators make the networks from objects of their own.

Source: k8snetworkplumbingwg/sriov-network-operator api/v1 (SriovNetwork: `resourceName`, `networkNamespace`) and
Mellanox/network-operator v26.4.1 (HostDeviceNetwork), as in `networks.MAKERS`.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.analysis.network import multus
from trainyard.document.lookup import integer, items, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Project, Resource

# Makers whose networks take a device of a device plugin.
OF_DEVICES = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork")


class OperatorNetwork(NamedTuple):
    """An object from which an operator makes a network, with the name of its device without the prefix."""

    maker: Resource
    device: str


def operator_networks(pod: Pod, namespace: str, project: Project) -> list[OperatorNetwork]:
    """Returns the networks of devices that a pod joins, one for each attachment, as far as an operator makes them."""
    makers = _makers.of(project)
    found: list[OperatorNetwork] = []
    for attachment in multus.attachments(pod) if makers else ():
        maker = makers.get(attachment.name)
        if maker is None or multus.find_network(attachment, namespace, project.networks) is not None:
            continue
        device = text(maker.tree, "spec", "resourceName").rpartition("/")[2]
        wanted, own = attachment.namespace or namespace, text(maker.tree, "spec", "networkNamespace")
        if device and (not wanted or not own or wanted == own):
            found.append(OperatorNetwork(maker, device))
    return found


def full_names(containers: tuple[Container, ...], device: str) -> set[str]:
    """Returns the names under which containers request a device, with their prefixes."""
    names = {str(name) for one in containers for name in (*one.limits, *one.requests)}
    return {name for name in names if name.partition("/")[2] == device}


def functions_on_a_node(policies: tuple[Resource, ...]) -> int | None:
    """Returns the largest number of functions that policies create on one node; None if they do not limit it.

    A policy that selects adapters by vendor or device has an effect on any number of them.
    """
    total = 0
    for policy in policies:
        each = integer(policy.tree, "spec", "numVfs")
        names = [str(name) for name in items(policy.tree, "spec", "nicSelector", "pfNames")]
        adapters = items(policy.tree, "spec", "nicSelector", "rootDevices")
        if each is None or not (names or adapters):
            return None
        total += sum(_functions(name, each) for name in names) if names else each * len(adapters)
    return total or None


def _functions(name: str, each: int) -> int:
    """Returns the number of functions of an adapter: `ens1f0#0-3` are four of them."""
    first, dash, last = name.partition("#")[2].partition("-")
    if dash and first.isdecimal() and last.isdecimal() and len(last) < 6:
        return max(0, int(last) - int(first) + 1)
    return each


_makers: LastIndex[Project, dict[str, Resource]] = LastIndex(
    lambda project: {maker.name: maker for maker in project.of_kind(*OF_DEVICES)}
)
