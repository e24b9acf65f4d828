"""Which devices the device plugins in the files offer.

Sources: Mellanox/k8s-rdma-shared-dev-plugin README.md (`configList`, prefix `rdma` by default);
k8snetworkplumbingwg/sriov-network-device-plugin README.md (`resourceList`, prefix `intel.com` by default);
Mellanox/network-operator NicClusterPolicy (`config` holds the same JSON); sriov-network-operator SriovNetworkNodePolicy
(`resourceName`, under the prefix that its operator is started with).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from validator.fields import items, mapping, text
from validator.model import Project

_LISTS = {"configList": "rdma", "resourceList": "intel.com"}


class Offered(NamedTuple):
    """Full names of devices, their prefixes, and names whose prefix the files do not say."""

    names: frozenset[str]
    prefixes: frozenset[str]
    any_prefix: frozenset[str]


def offered(project: Project) -> Offered:
    """All devices of plugins that are configured in the files."""
    names = {name for written in _configurations(project) for name in _names(written)}
    policies = project.of_kind("SriovNetworkNodePolicy")
    return Offered(
        names=frozenset(names),
        prefixes=frozenset(name.partition("/")[0] for name in names),
        any_prefix=frozenset(text(policy.tree, "spec", "resourceName") for policy in policies),
    )


def _configurations(project: Project) -> Iterator[str]:
    for config_map in project.of_kind("ConfigMap"):
        yield from (value for value in mapping(config_map.tree, "data").values() if isinstance(value, str))
    for policy in project.of_kind("NicClusterPolicy"):
        for plugin in ("rdmaSharedDevicePlugin", "sriovDevicePlugin"):
            yield text(policy.tree, "spec", plugin, "config")


def _names(written: str) -> Iterator[str]:
    if not any(f'"{field}"' in written for field in _LISTS):
        return
    import json

    try:
        tree: Any = json.loads(written)
    except (ValueError, RecursionError):
        return
    for field, prefix in _LISTS.items():
        for entry in items(tree, field):
            if text(entry, "resourceName"):
                yield f"{text(entry, 'resourcePrefix') or prefix}/{text(entry, 'resourceName')}"
