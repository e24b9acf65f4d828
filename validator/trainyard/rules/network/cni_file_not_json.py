"""A network configuration in a ConfigMap is not valid JSON, so the runtime of the nodes does not read it.

containerd and CRI-O read the files of `/etc/cni/net.d`, which a DaemonSet copies from a ConfigMap. They skip a file
that they cannot parse, and say that the network plugin is not ready, or that there is no network of this name. JSON has
no comments, and no comma before a closing bracket.

The rule reads entries that hold a `cniVersion` or end with `.conflist`. It leaves out those with values to fill in,
such as `__CNI_MTU__`, `${MTU}` or `MTU` without quotes.

Write strict JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_TO_FILL_IN = re.compile(
    r"__\w+__|\$[{(]?\w|\{\{|<[A-Za-z_ -]+>|@\w+@|%\w+%|\[\[ ?\.|:\s?(?:[A-Z][A-Z0-9_]{2,}|\{\w+\})\s?[,}\]\n]"
)


@rule(
    code="NT061",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "containernetworking/cni v1.3.0 libcni/conf.go: ConfListFromFile, NetworkPluginConfFromBytes",
        "github.com/podman-container-tools/podman issue 2909",
    ),
    needs=("cniVersion", ".conflist"),
)
def cni_file_not_json(resource: Resource) -> Iterator[Problem]:
    """Report network configurations that do not parse."""
    if resource.kind != "ConfigMap":
        return
    for key, content in mapping(resource.tree, "data").items():
        if not isinstance(content, str) or not content.lstrip().startswith("{") or _TO_FILL_IN.search(content):
            continue
        if not (str(key).endswith(".conflist") or '"cniVersion"' in content):
            continue
        try:
            json.loads(content)
        except (ValueError, RecursionError) as error:
            line = _line(error, content)
            yield Problem(
                resource.at.child("data", key).below(line),
                f"`{key}` is not valid JSON: the runtime does not read this network",
                "write strict JSON: no comments, and no comma before a closing bracket",
            )


def _line(error: Exception, content: str) -> int:
    """Returns the line of the fault; the reader stops behind it at a comma before a bracket, or at a line break."""
    if not isinstance(error, json.JSONDecodeError):
        return 0
    before = content[: error.pos].rstrip()
    return content.count("\n", 0, len(before) if before.endswith(",") else error.pos)
