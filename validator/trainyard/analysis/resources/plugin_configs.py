"""The JSON configurations of device plugins: in a ConfigMap, or in the policy of the network operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.model.run import Resource
from trainyard.startup import NamedTuple

_POLICIES = ("NicClusterPolicy", "NicNodePolicy")


class Configuration(NamedTuple):
    """A configuration that is valid JSON, at its place; `fault` is the reason why it is not, else it is empty."""

    tree: dict[str, Any]
    at: Place
    fault: str = ""


def configurations(resource: Resource, plugin: str, *signs: str) -> Iterator[Configuration]:
    """Yields the configurations of a plugin in an object.

    Args:
        resource: Any object.
        plugin: The field of the plugin in a NicClusterPolicy.
        signs: Words that the configuration in a ConfigMap contains.
    """
    if resource.kind in _POLICIES:
        raw = text(resource.tree, "spec", plugin, "config")
        if raw:
            yield from _parsed(raw, resource.at.child("spec", plugin, "config"))
    elif resource.kind == "ConfigMap":
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and all(f'"{sign}"' in raw for sign in signs):
                yield from _parsed(raw, resource.at.child("data", key))


def entries(resource: Resource, plugin: str, field: str) -> Iterator[tuple[Any, Place]]:
    """Yields the resources in the list `field` of the configurations of a plugin, each with its place."""
    for found in configurations(resource, plugin, field, "resourceName"):
        listed = cni.field_value(found.tree, field)
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            yield entry, found.at.child(field, index)


def _parsed(raw: str, at: Place) -> Iterator[Configuration]:
    import json

    try:
        json.loads(raw)
    except (ValueError, RecursionError) as error:
        fault = str(error)
        line = re.search(r"line (\d+)", fault)
        yield Configuration({}, at.below(int(line[1]) - 1) if line else at, fault.split(": line")[0])
        return
    inner = embedded_mapping(at, raw)
    if inner is not None:
        yield Configuration(inner.tree, Place(inner))
