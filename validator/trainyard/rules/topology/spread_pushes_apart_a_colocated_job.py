"""The pods of a job must share a topology domain and must not share it, so most of them stay Pending.

A hard topology spread (`whenUnsatisfiable: DoNotSchedule`) and a required pod anti-affinity separate pods. A required
pod affinity, or Kueue's `podset-required-topology`, puts them into one domain. Over the same topology key they
contradict each other: with an anti-affinity the second pod fits nowhere; with a spread the pods above `maxSkew` fit
nowhere once the cluster has a second domain. The pods that did start hold their GPUs and wait in the rendezvous.

Topology spread constraints are for services that must survive the loss of a zone. They do not bring the workers of a
training job closer together; for that keep the affinity, or Kueue's annotation, and remove the spread.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods import placement
from trainyard.analysis.pods.placement import Term
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import REQUIRED
from trainyard.model.run import Role


@rule(
    code="TP011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints: maxSkew, DoNotSchedule",
        "kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node: inter-pod affinity and anti-affinity",
        "kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2/topology_types.go: PodSetRequiredTopologyAnnotation",
    ),
    needs=("topologySpreadConstraints", "podAntiAffinity"),
)
def spread_pushes_apart_a_colocated_job(role: Role, context: Context) -> Iterator[Problem]:
    """Terms over one key that contradict each other."""
    if context.run is None or context.run.groups > 1:
        return
    together = list(placement.required(role, context.run, "podAffinity"))
    level = role.pod.annotations.get(REQUIRED)
    if isinstance(level, str):
        together.append(Term(level, role.pod.template_at.child("metadata", "annotations", REQUIRED)))
    apart = [(term, 1, "anti-affinity") for term in placement.required(role, context.run, "podAntiAffinity")]
    apart += [(term, skew, "spread") for term, skew in placement.spreads(role, context.run)]
    for term, most, kind in apart:
        against = next((other for other in together if other.key == term.key), None)
        if against is not None and role.replicas is not None and role.replicas > most:
            yield Problem(
                term.at,
                f"this {kind} separates the {role.replicas} pods over {term.key}, but they must also share one domain",
                f"remove the {kind}",
                related=((against.at, "the pods must share a domain of the same key"),),
            )
