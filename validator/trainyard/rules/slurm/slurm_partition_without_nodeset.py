"""A partition in the values of Slinky's chart names a nodeset that is not there, so the chart cannot be rendered.

`partitions.NAME.nodesets` lists keys of `nodesets`, or `ALL`. The chart `slurm` fails with "is referencing nodeset ...
that does not exist or is disabled" if one is not a key, or has `enabled: false`. Charts before 0.4 rendered a partition
without nodes.

Write the key of the nodeset. It is the name in the values, which the names of the nodes begin with.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project

_ALL = "ALL"


@rule(
    code="SL026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "SlinkyProject/slurm-operator v1.2.1 helm/slurm/templates/controller/_helpers.tpl: slurm.controller.extraConf",
        "github.com/SlinkyProject/slurm-operator pull 56",
    ),
    needs=("nodesets",),
)
def slurm_partition_without_nodeset(project: Project) -> Iterator[Problem]:
    """Report partitions of nodesets that the values do not define."""
    for release in releases(project):
        if release.chart == "slurm" and not release.is_open and mapping(release.values, "nodesets"):
            yield from _unknown(release)


def _unknown(release: DeclaredRelease) -> Iterator[Problem]:
    nodesets = mapping(release.values, "nodesets")
    by_default = mapping(release.values, "nodesetDefaults").get("enabled")
    for title, partition in mapping(release.values, "partitions").items():
        if mapping(partition).get("enabled") is not True:
            continue
        for index, name in enumerate(items(partition, "nodesets")):
            at = release.place("partitions", str(title), "nodesets", index)
            if not isinstance(name, str) or name == _ALL or "{{" in name:
                continue
            if name not in nodesets:
                near = closest_match(name, list(nodesets), 0.4)
                yield Problem(
                    at,
                    f"partition `{title}` names the nodeset `{name}`, which the values do not define: the chart fails",
                    f"did you mean `{near}`?" if near else f"the nodesets are {', '.join(map(str, nodesets))}",
                )
            elif mapping(nodesets, name).get("enabled", by_default) is False:
                yield Problem(
                    at,
                    f"partition `{title}` names the nodeset `{name}`, which is not enabled: the chart fails",
                    f"write `nodesets.{name}.enabled: true`, or turn the partition off",
                )
