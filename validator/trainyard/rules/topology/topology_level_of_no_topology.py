"""The job asks Kueue for a level that no Topology of the files has, so Kueue never admits it.

The annotations `kueue.x-k8s.io/podset-required-topology`, `-preferred-topology` and `-slice-required-topology` hold the
label of nodes that a level of Kueue's Topology names, such as `cloud.example.com/rack`. With any other text the
Workload stays pending, with "no topology domains at level".

The rule looks at files beside each other that define at least one Topology.

Write a level of the Topology.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import folder_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.jobs.kueue import PREFERRED, REQUIRED, SLICE_REQUIRED
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project


@rule(
    code="TP026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go: no requested topology level",
        "kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling: levels are labels of nodes",
    ),
    needs=("Topology",),
)
def topology_level_of_no_topology(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report levels that no Topology beside the job has."""
    asked = [(name, level) for name in _NAMES if isinstance(level := pod.annotations.get(name), str)]
    if not asked or context.site is not None:
        return
    levels = _by_folder.of(context.project).get(folder_of(pod.at), {})
    if not levels:
        return
    first = next(iter(levels.values()))
    for name, level in asked:
        if level in levels or has_parameter(level):
            continue
        close = next((one for one in levels if one.endswith(f"/{level}")), closest_match(level, levels, 0.6))
        yield Problem(
            pod.template_at.child("metadata", "annotations", name),
            f"no Topology of the files has the level `{level}`: Kueue never admits the job",
            f"did you mean `{close}`?" if close else f"the levels are {', '.join(levels)}",
            related=((first, "the levels"),),
        )


def _find_levels(project: Project) -> dict[str, dict[str, Place]]:
    """Returns the levels of all Topologies of each folder, each with the place of the levels that name it first.

    A folder in which a level is open is left out.
    """
    found: dict[str, dict[str, Place]] = {}
    for one in project.of_kind("Topology"):
        if group_of(one.api_version) == "kueue.x-k8s.io":
            known = found.setdefault(folder_of(one.at), {})
            for level in items(one.tree, "spec", "levels"):
                known.setdefault(text(level, "nodeLabel"), one.at.child("spec", "levels"))
    return {
        folder: levels
        for folder, levels in found.items()
        if not any(has_parameter(level) or not level for level in levels)
    }


_by_folder: LastIndex[Project, dict[str, dict[str, Place]]] = LastIndex(_find_levels)
_NAMES = (REQUIRED, PREFERRED, SLICE_REQUIRED)
