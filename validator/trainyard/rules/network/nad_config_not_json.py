"""The configuration of a NetworkAttachmentDefinition is not valid CNI JSON, so its pods hang in creation.

The API server stores `spec.config` as plain text and checks nothing. Multus parses it when the first pod starts: it
must be one JSON object with a `type`, or with a list of `plugins` that each have a `type`. A trailing comma, a comment
or a missing bracket appears only then, and the pod stays in `ContainerCreating` with `FailedCreatePodSandBox`; in a
job of many workers the other workers hold their GPUs meanwhile.

A `name` is not required: Multus uses the name of the object. The rule also skips an empty `spec`, which refers to the
file of the same name in the node's CNI folder.

Write strict JSON, with quotes around the value of `cniVersion`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.placeholders import has_variable
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

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
    """Report a configuration that Multus cannot parse."""
    if isinstance(_raw(network), dict | list):
        yield Problem(network.config_at, "`config` must be a string with a JSON object, not YAML", HELP)
    elif network.fault is not None and not _is_template(str(_raw(network))):
        line = re.search(r"line (\d+)", network.fault)
        at = network.config_at.below(int(line[1]) - 1) if line else network.config_at
        yield Problem(at, f"`config` is not valid JSON: {network.fault.split(': line')[0]}", HELP)
    elif network.config is not None:
        yield from _untyped(network)


def _is_template(text: str) -> bool:
    """True if Flux, envsubst or a program in Go writes a part of the text: no JSON has two braces in a row there."""
    return has_variable(text) or re.search(r"\{\{-?\s*[.$\w]", text) is not None


def _raw(network: Network) -> Any:
    tree = network.at.document.tree
    for step in network.at.path:
        tree = tree[step]
    return mapping(tree, "spec").get("config")


def _untyped(network: Network) -> Iterator[Problem]:
    config, at = network.config or {}, Place(network.plugins[0][1].document) if network.plugins else network.config_at
    version = cni.field_value(config, "cniVersion")
    if version is not None and not isinstance(version, str):
        place = at.child(cni.field_name(config, "cniVersion"))
        yield Problem(place, f"`cniVersion` must be a string, not the number {version}", 'write "0.3.1" or "1.0.0"')
    if not network.plugins:
        yield Problem(network.config_at, "`config` has no plugin: `plugins` is empty", HELP)
    for plugin, place in network.plugins:
        if not cni.field_text(plugin, "type"):
            yield Problem(place, "a plugin has no `type`, so Multus cannot run it", HELP)
