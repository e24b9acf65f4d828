"""A hard topology spread over zones splits one job over several zones, so all-reduce crosses them.

`topologySpreadConstraints` keep the difference of pod counts between any two domains of the key within `maxSkew`. Over
zones, with `DoNotSchedule`, eight workers are placed four and four in two zones, so every all-reduce runs at the
bandwidth of the link between the zones instead of that of the fabric. If one zone is full, the remaining workers stay
Pending although the other zone has room. The constraint is sometimes mistaken for a way to keep pods close; it does the
opposite.

The rule ignores roles of a single pod, soft constraints (`ScheduleAnyway`) and pods without accelerators. It also
ignores pods with a pod affinity over the same key, which divides a job evenly over a few domains, such as racks.

Use a pod affinity over the zone or a level below it, or Kueue's topology annotations.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods import placement
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

ZONES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone")


@rule(
    code="TP013",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints: maxSkew, DoNotSchedule",),
    needs=("topologySpreadConstraints", "podAntiAffinity"),
)
def spread_splits_job_over_zones(role: Role, context: Context) -> Iterator[Problem]:
    """Hard spreads of a training role over zones."""
    if context.run is None or context.run.groups > 1 or not role.trains or not wants_gpu(role.pod):
        return
    for term, most in placement.spreads(role, context.run):
        if term.key in ZONES and role.replicas is not None and role.replicas > most and not _packed(role, term.key):
            yield Problem(
                term.at,
                f"the {role.replicas} pods of {role.name} are spread over {term.key}: all-reduce crosses zones",
                "remove the constraint, or use a pod affinity",
            )


def _packed(role: Role, key: str) -> bool:
    """Returns true if a pod affinity, hard or soft, puts pods together over the key."""
    affinity = mapping(role.pod.tree, "affinity", "podAffinity")
    terms = items(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    weighted = items(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
    terms = [*terms, *(mapping(term, "podAffinityTerm") for term in weighted)]
    return any(text(term, "topologyKey") == key for term in terms)
