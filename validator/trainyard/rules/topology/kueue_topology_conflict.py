"""A pod template has two topology requests that contradict each other, so Kueue rejects the job.

With topology-aware scheduling a pod template has at most one of `kueue.x-k8s.io/podset-required-topology`,
`podset-preferred-topology` and `podset-unconstrained-topology`. Kueue's webhook rejects a job if a template has two of
them, even if both name the same level. `podset-unconstrained-topology` takes a boolean, and any other word is rejected
too.

A required level that no block of nodes can hold keeps the job in the queue forever, while a preferred one lets Kueue
spread the pods over the next level up. Keep one: `required` if crossing the level makes the job useless, and
`preferred` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import TOPOLOGY_REQUESTS, UNCONSTRAINED
from trainyard.facts.programs.go_words import BOOLEANS
from trainyard.model.run import Pod


@rule(
    code="TP003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/tas_validation.go: ValidateTASPodSetRequest",),
    needs=("kueue.x-k8s.io",),
)
def kueue_topology_conflict(pod: Pod) -> Iterator[Problem]:
    """More than one topology request."""
    at = pod.template_at.child("metadata", "annotations")
    found = [name for name in pod.annotations if name in TOPOLOGY_REQUESTS]
    for name in found[1:]:
        yield Problem(
            at.child(name),
            f"`{name}` and `{found[0]}` exclude each other: Kueue rejects the job",
            "keep one of the two",
            related=((at.child(found[0]), "the other request"),),
        )
    wish = pod.annotations.get(UNCONSTRAINED)
    if isinstance(wish, str) and wish not in BOOLEANS:
        yield Problem(at.child(UNCONSTRAINED), f"`{wish}` is not a boolean: Kueue rejects the job", 'write "true"')
