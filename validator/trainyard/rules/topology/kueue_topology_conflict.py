"""Two topology requests on one pod template contradict each other, and Kueue refuses the job.

With topology-aware scheduling a pod template carries at most one of `kueue.x-k8s.io/podset-required-topology`,
`podset-preferred-topology` and `podset-unconstrained-topology`. Kueue's webhook rejects a job of which a template has
two, even when both name the same level. `podset-unconstrained-topology` takes a boolean, and any other word is
rejected too.

A required level that no block of nodes can hold keeps the job in the queue for good, while a preferred one lets Kueue
spread the pods over the next level up. Decide for one: `required` when crossing the level makes the job useless, and
`preferred` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kueue import TOPOLOGY_REQUESTS, UNCONSTRAINED
from validator.model import Pod
from validator.rule import Problem, rule

# What Go's strconv.ParseBool takes.
BOOLEANS = ("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False")


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
            f"`{name}` stands beside `{found[0]}`: Kueue refuses the job",
            "keep one of the two",
            related=((at.child(found[0]), "the other request"),),
        )
    wish = pod.annotations.get(UNCONSTRAINED)
    if isinstance(wish, str) and wish not in BOOLEANS:
        yield Problem(at.child(UNCONSTRAINED), f"`{wish}` is no boolean: Kueue refuses the job", 'write "true"')
