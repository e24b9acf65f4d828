"""A NetworkAttachmentDefinition whose configuration is no usable CNI JSON lets every pod that uses it hang in creation.

The API server stores `spec.config` as plain text and checks nothing. Multus reads it when the first pod starts: it must
be one JSON object with a `type`, or with a list of `plugins` of which each has a `type`. A trailing comma, a comment or
a missing bracket is found only then, and the pod stays in `ContainerCreating` with `FailedCreatePodSandBox`; in a job
of many workers the other workers hold their GPUs meanwhile.

A `name` is not needed: Multus fills in that of the object. An empty `spec` is left alone too: it means the file of the
same name in the node's CNI folder.

Write strict JSON, with quotes around `cniVersion`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.aspects import cni
from validator.fields import mapping
from validator.model import Network
from validator.rule import Problem, rule
from validator.source import Place

HELP = "write one JSON object with a `type`, or with `plugins` that each have a `type`"


@rule(
    code="NT001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/network-attachment-definition-client pkg/utils/cniconfig.go: GetCNIConfigFromSpec",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/types/conf.go: LoadDelegateNetConf, LoadDelegateNetConfList",
        "containernetworking/cni v1.3.0 libcni/conf.go: NetworkPluginConfFromBytes wants a type",
    ),
)
def nad_config_not_json(network: Network) -> Iterator[Problem]:
    """A configuration that Multus cannot read."""
    if isinstance(_raw(network), dict | list):
        yield Problem(network.config_at, "`config` is YAML where the text of a JSON object belongs", HELP)
    elif network.fault is not None:
        line = re.search(r"line (\d+)", network.fault)
        at = network.config_at.below(int(line[1]) - 1) if line else network.config_at
        yield Problem(at, f"`config` is no JSON: {network.fault.split(': line')[0]}", HELP)
    elif network.config is not None:
        yield from _untyped(network)


def _raw(network: Network) -> Any:
    tree = network.at.document.tree
    for step in network.at.path:
        tree = tree[step]
    return mapping(tree, "spec").get("config")


def _untyped(network: Network) -> Iterator[Problem]:
    config, at = network.config or {}, Place(network.plugins[0][1].document) if network.plugins else network.config_at
    version = cni.value(config, "cniVersion")
    if version is not None and not isinstance(version, str):
        place = at.child(cni.key(config, "cniVersion"))
        yield Problem(place, f"`cniVersion` is the number {version} and must be text", 'write "0.3.1" or "1.0.0"')
    if not network.plugins:
        yield Problem(network.config_at, "`config` has no plugin: `plugins` is empty", HELP)
    for plugin, place in network.plugins:
        if not cni.string(plugin, "type"):
            yield Problem(place, "a plugin has no `type`, so no program can be run for it", HELP)
