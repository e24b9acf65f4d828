"""A hard topology spread over zones puts the workers of one job as far apart as the cluster allows.

`topologySpreadConstraints` keep the number of pods in any two domains of the key within `maxSkew`. Over a zone, with
`DoNotSchedule`, eight workers land four and four in two zones, so that every all-reduce crosses between them: its
bandwidth is that of the slowest link and not that of the fabric. When one zone is full, the workers that are left stay
Pending although the other zone has room. The constraint is sometimes taken for a way to keep pods close; it is the
opposite.

Roles of a single pod, soft constraints (`ScheduleAnyway`) and pods without accelerators are left alone. So are pods
with a pod affinity over the same key: there somebody divides a job evenly over few domains, such as racks.

Use a pod affinity over the zone or a level below it, or Kueue's topology annotations.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import placement
from validator.facts.devices import wants_gpu
from validator.fields import items, mapping, text
from validator.model import Role
from validator.rule import Context, Problem, rule

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
    if context.run is None or not role.trains or not wants_gpu(role.pod):
        return
    for term, most in placement.spreads(role, context.run):
        if term.key in ZONES and role.replicas is not None and role.replicas > most and not _packed(role, term.key):
            yield Problem(
                term.at,
                f"the {role.replicas} pods of {role.name} are spread over {term.key}: all-reduce crosses zones",
                "remove the constraint, or use a pod affinity",
            )


def _packed(role: Role, key: str) -> bool:
    """Whether a pod affinity, hard or soft, draws pods together over the key."""
    affinity = mapping(role.pod.tree, "affinity", "podAffinity")
    terms = items(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    weighted = items(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
    terms = [*terms, *(mapping(term, "podAffinityTerm") for term in weighted)]
    return any(text(term, "topologyKey") == key for term in terms)
