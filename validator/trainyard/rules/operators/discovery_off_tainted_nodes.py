"""The DaemonSets of the GPU operator tolerate a taint that node feature discovery does not, so they get no such nodes.

The operator starts its DaemonSets on nodes that have the label of an NVIDIA card, which the worker of node feature
discovery sets. The worker is a chart of its own within the chart `gpu-operator`: `daemonsets.tolerations` does not
reach it. By default it tolerates the taints of control planes and `nvidia.com/gpu`. On nodes with another taint, such
as spot nodes, it does not run, nothing labels them, and no GPU is offered.

The rule leaves out releases with `nfd.enabled: false`, and taints that Kubernetes itself sets.

Add the toleration to `node-feature-discovery.worker.tolerations`, with the two of the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_SECTION = "node-feature-discovery"
_BY_DEFAULT = ("nvidia.com/gpu", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_OF_KUBERNETES = "node.kubernetes.io/"


@rule(
    code="GO071",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml: daemonsets, node-feature-discovery.worker",
        "github.com/NVIDIA/gpu-operator issue 577",
    ),
    needs=("gpu-operator",),
)
def discovery_off_tainted_nodes(project: Project) -> Iterator[Problem]:
    """Report taints that node feature discovery does not tolerate."""
    for release in releases(project):
        worker = mapping(release.values, _SECTION, "worker")
        if release.chart != "gpu-operator" or release.flag("nfd", "enabled") is False:
            continue
        own = items(worker, "tolerations")
        for index, wanted in enumerate(items(release.values, "daemonsets", "tolerations")):
            key = text(wanted, "key")
            if not key or key in _BY_DEFAULT or key.startswith(_OF_KUBERNETES):
                continue
            if not any(_covers(one, wanted) for one in own):
                yield Problem(
                    release.place("daemonsets", "tolerations", index, "key"),
                    f"node feature discovery does not tolerate `{key}`: nodes with this taint get no labels, and the "
                    "operator leaves them out",
                    f"add it to `{_SECTION}.worker.tolerations` too",
                )


def _covers(own: Any, wanted: Any) -> bool:
    """True if one toleration holds for the taints of another one."""
    key, effect = text(own, "key"), text(own, "effect")
    if key not in ("", text(wanted, "key")) or effect not in ("", text(wanted, "effect")):
        return False
    return text(own, "operator") == "Exists" or (bool(key) and text(own, "value") == text(wanted, "value"))
