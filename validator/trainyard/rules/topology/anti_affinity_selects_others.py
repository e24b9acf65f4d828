"""The anti-affinity selects labels that the pods themselves do not have, so it does not keep them apart.

An anti-affinity between replicas selects their own labels. With another value, such as that of an older name, no pod
fits: the replicas may all land on one node, and one failure takes all of them.

The rule applies if the selector names the workload itself or a Service, its pods have the same key with another value,
and no pod of the files fits the selector.

Write the labels of the pod template in the selector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.pod_names import may_match_any
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.node_labels import HOSTNAME
from trainyard.model.run import Role, Workload

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@rule(
    code="TP020",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node: inter-pod affinity and anti-affinity",
        "github.com/apache/pulsar issue 5380, github.com/kubernetes/website pull 7700",
    ),
    needs=("podAntiAffinity",),
)
def anti_affinity_selects_others(run: Workload, context: Context) -> Iterator[Problem]:
    """Report selectors of the replicas that fit none of them."""
    for role in run.roles:
        if (role.replicas or 0) < 2:
            continue
        for wanted, at in _selectors(role):
            names = (*_names(role, run), *(one.name for one in context.project.of_kind("Service")))
            other = next((key for key, value in wanted.items() if _is_meant(key, value, role, names)), None)
            if other is None or may_match_any(wanted, context.project):
                continue
            yield Problem(
                at,
                f"no pod has `{other}: {wanted[other]}`, so nothing keeps the {role.replicas} pods apart",
                f"write `{other}: {role.pod.labels[other]}`, as in the pod template",
                related=((role.pod.template_at.child("metadata", "labels", other), "the label of the pods"),),
            )


def _names(role: Role, run: Workload) -> tuple[str, ...]:
    return (run.name, *(container.name for container in role.pod.containers))


def _is_meant(key: str, value: str, role: Role, names: tuple[str, ...]) -> bool:
    own = role.pod.labels.get(key)
    return own is not None and str(own) != value and value in names


def _selectors(role: Role) -> Iterator[tuple[dict[str, str], Place]]:
    """Yields the labels that terms for different nodes select, if each label has one value."""
    at = role.pod.at.child("affinity", "podAntiAffinity")
    tree = mapping(role.pod.tree, "affinity", "podAntiAffinity")
    terms: list[tuple[Any, Place]] = [(one, at.child(_REQUIRED, i)) for i, one in enumerate(items(tree, _REQUIRED))]
    terms += [
        (mapping(one, "podAffinityTerm"), at.child(_PREFERRED, i, "podAffinityTerm"))
        for i, one in enumerate(items(tree, _PREFERRED))
    ]
    for term, place in terms:
        selector = mapping(term, "labelSelector")
        wanted = {str(key): str(value) for key, value in mapping(selector, "matchLabels").items()}
        expressions = items(selector, "matchExpressions")
        for one in expressions:
            if text(one, "operator") == "In" and len(items(one, "values")) == 1:
                wanted[text(one, "key")] = str(items(one, "values")[0])
        if text(term, "topologyKey") == HOSTNAME and len(wanted) == len(mapping(selector, "matchLabels")) + len(
            expressions
        ):
            selected = place.child("labelSelector")
            yield (
                wanted,
                selected.child("matchExpressions", 0, "values") if expressions else selected.child("matchLabels").key(),
            )
