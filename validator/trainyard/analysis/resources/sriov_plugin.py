"""The selectors in the configuration of the SR-IOV network device plugin, whatever its pools are called.

Source: k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0, cmd/sriovdp/manager.go (readConfig) and
pkg/factory/factory.go (selectors are an object or a list of objects).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.model.run import Resource


def selectors_of(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields each set of selectors in the configuration of the plugin, with its place; none for other objects."""
    for found in configurations(resource, "sriovDevicePlugin", "resourceList", "selectors"):
        for index, entry in enumerate(items(found.tree, "resourceList")):
            written = entry.get("selectors") if isinstance(entry, dict) else None
            at = found.at.child("resourceList", index, "selectors")
            if isinstance(written, dict):
                yield written, at
            for number, one in enumerate(written if isinstance(written, list) else ()):
                if isinstance(one, dict):
                    yield one, at.child(number)
