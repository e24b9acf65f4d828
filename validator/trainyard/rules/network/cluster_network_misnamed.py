"""Multus looks for the default network under a name that no network has, so no pod starts.

`clusterNetwork` is the name of a NetworkAttachmentDefinition, the `name` within a file of `/etc/cni/net.d`, or the path
of a file or a folder. The name of the file without its ending is none of them: `10-flannel` is not found, because
`10-flannel.conflist` calls its network `cbr0`. Each pod of the node then stays in `ContainerCreating` with "no valid
network configuration".

The rule compares it with the configurations of networks in the ConfigMaps of the files. It reports a name that is the
type of one of their plugins, or that has the form of a file's name.

Write the `name` of the network, or the path of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project
from trainyard.startup import pattern

_FIELD = "clusterNetwork"
_FILE = pattern(r"\d\d-[\w.-]+")


@rule(
    code="NT074",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getNetDelegate; pkg/netutils: "
        "GetCNIConfigFromFile",
        "github.com/k8snetworkplumbingwg/multus-cni pull 676",
    ),
    needs=(_FIELD,),
)
def cluster_network_misnamed(project: Project) -> Iterator[Problem]:
    """Report default networks of Multus that no file names."""
    known = {one.name for one in project.networks}
    found, types, asked = list[str](), set[str](), list[tuple[str, Place]]()
    for tree, at in _configurations(project):
        name = cni.field_text(tree, "name")
        if wanted := cni.field_text(tree, _FIELD):
            asked.append((wanted, at.child(cni.field_name(tree, _FIELD))))
        elif name:
            listed = [one for one in items(tree, cni.field_name(tree, "plugins")) if isinstance(one, dict)]
            types.update(cni.field_text(one, "type") for one in (tree, *listed))
            found.append(name)
    for wanted, at in asked:
        if not found or wanted in known or wanted in found or "/" in wanted or "{{" in wanted:
            continue
        if wanted in types or _FILE.fullmatch(wanted):
            near = found[0]
            yield Problem(at, f"no network has the name `{wanted}`: Multus finds no default network", f"write `{near}`")


def _configurations(project: Project) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the configurations of CNI in ConfigMaps, and those of Multus."""
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and raw.lstrip().startswith("{") and '"cniVersion"' in raw:
                inner = embedded_mapping(resource.at.child("data", key), raw)
                if inner is not None:
                    yield inner.tree, Place(inner)
