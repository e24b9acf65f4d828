"""An object of Kueue needs a feature gate that is off, so Kueue takes the object and ignores it.

Without TopologyAwareScheduling, the pods of a flavor with `topologyName` start anywhere, and without MultiKueue no
workload goes to a worker. Nothing says so. TopologyAwareScheduling is on by default since 0.14, MultiKueue since 0.9,
AdmissionFairSharing since 0.15 and ObjectRetentionPolicies since 0.13.

The rule reports gates that a configuration, an argument or values of the chart turn off, and those that are off by
default in the release of the chart if the files have all of its values. It leaves out files with several Kueues.

Turn the gate on, or upgrade Kueue.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.gates.found import gates_of
from trainyard.analysis.gates.setting import release
from trainyard.analysis.objects.releases import releases
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.feature_gates import KUEUE, default
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project
from trainyard.startup import NamedTuple


class _Need(NamedTuple):
    """A kind, or a field of it, that Kueue reads with a gate alone."""

    kind: str
    path: tuple[str, ...]
    gate: str
    effect: str


_NEEDS = (
    _Need("ResourceFlavor", ("spec", "topologyName"), "TopologyAwareScheduling", "the pods start anywhere"),
    _Need("MultiKueueConfig", (), "MultiKueue", "no workload goes to a worker"),
    _Need("Configuration", ("admissionFairSharing",), "AdmissionFairSharing", "earlier usage does not count"),
    _Need("Configuration", ("objectRetentionPolicies",), "ObjectRetentionPolicies", "nothing is deleted"),
)


@rule(
    code="QU036",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.13.10 pkg/cache/cache.go: TopologyName; cmd/kueue/main.go: setupControllers",
        "kubernetes-sigs/kueue v0.14.8 pkg/util/admissionfairsharing; pkg/controller/core/workload_controller.go",
        "facts/gates/kueue.txt: the default of each gate",
    ),
    needs=("topologyName", "MultiKueueConfig", "admissionFairSharing", "objectRetentionPolicies"),
)
def kueue_gate_off(project: Project, context: Context) -> Iterator[Problem]:
    """Report objects and fields that Kueue ignores."""
    needed = [(resource, need) for need in _NEEDS for resource in project.of_kind(need.kind)]
    values: dict[str, set[bool | None]] = {}
    for gate in gates_of(project, context.target) if needed else ():
        if gate.program == KUEUE:
            values.setdefault(gate.name, set()).add(gate.value)
    charts = [one for one in releases(project) if one.chart == "kueue"]
    version = release(charts[0].version) if len(charts) == 1 and not charts[0].is_open else None
    for resource, need in needed:
        *above, last = need.path or ("kind",)
        if not group_of(resource.api_version).endswith("kueue.x-k8s.io") or not mapping(resource.tree, *above).get(
            last
        ):
            continue
        given = values.get(need.gate)
        by_default = version is not None and default(KUEUE, need.gate, version) is False
        if given == {False} or (given is None and by_default):
            how = "is off" if given is not None else f"is off by default in {charts[0].version}"
            yield Problem(
                resource.at.child(*(need.path or ("kind",))).key(),
                f"Kueue ignores this without the feature gate {need.gate}, which {how}: {need.effect}",
                f"turn {need.gate} on",
            )
