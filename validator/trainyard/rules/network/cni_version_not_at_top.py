"""A configuration of CNI lacks `cniVersion` at its top, so it counts as one of the oldest version.

A list of plugins has one version for all of them, beside `plugins`. The version within a plugin is replaced by that of
the list. Without one, the list counts as one of version 0.1.0. Results of this version name no interfaces: plugins such
as `bandwidth` fail, and the status of the pod lacks the network. Some plugins work nevertheless.

A file of Multus that names its networks by `clusterNetwork` needs a version of its own. With `delegates`, each delegate
has one.

Write `cniVersion` at the top.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_VERSION = "cniVersion"


@rule(
    code="NT064",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "containernetworking/cni v1.3.0 libcni/conf.go: NetworkConfFromBytes; libcni/api.go: buildOneConfig",
        "github.com/k8snetworkplumbingwg/multus-cni issues 654 and 1309",
    ),
    needs=(_VERSION, "clusterNetwork"),
)
def cni_version_not_at_top(resource: Resource) -> Iterator[Problem]:
    """Report versions within a plugin, and files of Multus without one."""
    for tree, at in _configurations(resource):
        if cni.field_value(tree, _VERSION) is not None:
            continue
        listed = cni.field_value(tree, "plugins")
        inner = next((index for index, one in enumerate(_list(listed)) if cni.field_text(one, _VERSION)), None)
        if inner is not None:
            plugin = listed[inner]
            written = cni.field_text(plugin, _VERSION)
            yield Problem(
                at.child(cni.field_name(tree, "plugins"), inner, cni.field_name(plugin, _VERSION)),
                f"`{_VERSION}` stands in a plugin of the list: the list has no version, and the one of a plugin is not "
                "read",
                f'write `"{_VERSION}": "{written}"` beside `plugins`',
            )
        elif cni.field_text(tree, "type") == "multus" and cni.field_text(tree, "clusterNetwork"):
            yield Problem(
                at.child(cni.field_name(tree, "type")),
                f"this file of Multus has `clusterNetwork` and no `{_VERSION}`, which the runtime needs",
                f'add `"{_VERSION}": "0.3.1"`',
            )


def _configurations(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    if resource.kind == "NetworkAttachmentDefinition":
        texts = [(mapping(resource.tree, "spec").get("config"), resource.at.child("spec", "config"))]
    elif resource.kind == "ConfigMap":
        data = mapping(resource.tree, "data")
        texts = [(text, resource.at.child("data", key)) for key, text in data.items()]
    else:
        return
    for text, at in texts:
        if not isinstance(text, str) or not any(f'"{sign}"' in text for sign in ("plugins", "clusterNetwork")):
            continue
        inner = embedded_mapping(at, text) if text.lstrip().startswith("{") else None
        if inner is not None:
            yield inner.tree, Place(inner)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
