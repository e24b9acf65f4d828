"""The chart of the SR-IOV network operator creates no SriovOperatorConfig, so policies make no virtual function.

The operator starts its daemon on the nodes for the SriovOperatorConfig called `default`. The chart creates this object
only with `sriovOperatorConfig.deploy: true`, which is off by default. Without it the operator's pod runs, the API
server accepts every SriovNetworkNodePolicy, and nothing happens on any node.

The rule applies if the files hold the release with all its values, and a policy, but no SriovOperatorConfig. The chart
of NVIDIA's network operator sets the value itself.

Set `sriovOperatorConfig.deploy: true`, or write the object.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Project

_CHARTS = ("sriov-network-operator", "sriov-network-operator-chart")
_CONFIG = "SriovOperatorConfig"
# Before 1.3 the operator created the object by itself.
_FIRST = (1, 3)


@rule(
    code="GO063",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator v1.6.0 deployment/sriov-network-operator-chart/values.yaml: "
        "sriovOperatorConfig.deploy; templates/sriovoperatorconfig.yaml",
        "github.com/k8snetworkplumbingwg/sriov-network-operator issue 672",
    ),
    needs=_CHARTS,
)
def sriov_operator_without_config(project: Project) -> Iterator[Problem]:
    """Report releases whose operator gets no configuration."""
    if not project.of_kind("SriovNetworkNodePolicy") or project.of_kind(_CONFIG):
        return
    for release in releases(project):
        if release.chart not in _CHARTS or release.is_open or _is_older(release):
            continue
        if _CONFIG in str(release.values.get("extraDeploy")):
            continue
        if release.flag("sriovOperatorConfig", "deploy") is not True:
            told = "deploy" in mapping(release.values, "sriovOperatorConfig")
            yield Problem(
                release.place("sriovOperatorConfig", "deploy") if told else release.at,
                f"the chart creates no {_CONFIG}: the operator starts no daemon, and no policy has an effect",
                "set `sriovOperatorConfig.deploy: true`",
            )


def _is_older(release: DeclaredRelease) -> bool:
    return before(release.numbers, _FIRST)
