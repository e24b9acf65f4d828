"""Pods that the selectors of a pod template select, and the template's constraints on placement."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.hardware.node_labels import HOSTNAME
from trainyard.facts.jobs.run_labels import BY_NAME, OLD_JOB_NAME
from trainyard.model.run import Pod, Role, Run
from trainyard.startup import NamedTuple

# Labels that the operators put on every pod of a job, with the job's name as value.
_JOB_NAME_LABELS = (*(labels.run for labels in BY_NAME), OLD_JOB_NAME)
ROLE_LABELS = tuple(labels.role[0] for labels in BY_NAME if labels.role)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODE_TERMS = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


class Term(NamedTuple):
    """A required pod affinity or anti-affinity, or a hard topology spread, between a role's own pods."""

    key: str
    at: Place


def selects_itself(selector: Any, role: Role, run: Run) -> bool:
    """True if a label selector certainly selects the role's own pods."""
    if not isinstance(selector, dict) or not selector:
        return False
    labels = labels_of(role, run)
    return has_labels(labels, mapping(selector, "matchLabels")) and all(
        _matches(expression, labels) for expression in items(selector, "matchExpressions")
    )


def has_labels(labels: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """True if the labels of a pod are among others those of a selector."""
    return all(str(labels.get(name)) == str(value) for name, value in wanted.items())


def labels_of(role: Role, run: Run) -> dict[str, Any]:
    """Returns the labels of a role's pods, with those that its controller adds."""
    labels = {**dict.fromkeys(_JOB_NAME_LABELS, run.name), **dict.fromkeys(ROLE_LABELS, role.name)}
    if run.kind not in ("JobSet", "Job", "TrainJob"):
        labels["training.kubeflow.org/replica-type"] = role.name.lower()
    return {**labels, **role.pod.labels}


def _matches(expression: Any, labels: dict[str, Any]) -> bool:
    name, operator = text(expression, "key"), text(expression, "operator")
    if operator == "In":
        return name in labels and str(labels[name]) in [str(value) for value in items(expression, "values")]
    return operator == "Exists" and name in labels


def required(role: Role, run: Run, kind: str) -> Iterator[Term]:
    """Yields the required terms of `podAffinity` or `podAntiAffinity` between the role's own pods."""
    for index, term in enumerate(items(role.pod.tree, "affinity", kind, _REQUIRED)):
        own = not items(term, "namespaces") and not (isinstance(term, dict) and "namespaceSelector" in term)
        if own and text(term, "topologyKey") and selects_itself(mapping(term, "labelSelector"), role, run):
            place = role.pod.at.child("affinity", kind, _REQUIRED, index, "topologyKey")
            yield Term(text(term, "topologyKey"), place)


def spreads(role: Role, run: Run) -> Iterator[tuple[Term, int]]:
    """Yields the hard topology spreads of the role's own pods, each with its maximum skew."""
    for index, constraint in enumerate(items(role.pod.tree, "topologySpreadConstraints")):
        hard = text(constraint, "whenUnsatisfiable") == "DoNotSchedule"
        if hard and text(constraint, "topologyKey") and selects_itself(mapping(constraint, "labelSelector"), role, run):
            skew = constraint.get("maxSkew")
            place = role.pod.at.child("topologySpreadConstraints", index, "topologyKey")
            yield Term(text(constraint, "topologyKey"), place), skew if isinstance(skew, int) else 1


def instance_types(pod: Pod) -> Iterator[tuple[str, Place]]:
    """Yields the instance types that the node affinity of a pod requires."""
    return required_values(pod, INSTANCE_TYPES)


def required_values(pod: Pod, labels: Collection[str]) -> Iterator[tuple[str, Place]]:
    """Yields the values of these node labels that the node affinity of a pod requires."""
    for expression, at in required_expressions(pod):
        if text(expression, "key") in labels and text(expression, "operator") == "In":
            for index, value in enumerate(items(expression, "values")):
                yield str(value), at.child("values", index)


def is_on_one_node(pod: Pod) -> bool:
    """True if a pod names the node that it runs on."""
    if text(pod.tree, "nodeName") or text(pod.tree, "nodeSelector", HOSTNAME):
        return True
    return any(
        text(expression, "key") == HOSTNAME
        and text(expression, "operator") == "In"
        and len(items(expression, "values")) == 1
        for expression, _ in required_expressions(pod)
    )


def required_expressions(pod: Pod) -> Iterator[tuple[Any, Place]]:
    """Yields the expressions about labels of nodes that the node affinity of a pod requires."""
    for index, term in enumerate(items(pod.tree, *NODE_TERMS)):
        for number, expression in enumerate(items(term, "matchExpressions")):
            yield expression, pod.at.child(*NODE_TERMS, index, "matchExpressions", number)


def tolerates(toleration: dict[str, Any], key: str, value: str, effect: str) -> bool:
    """True if a toleration fits a taint, as Kubernetes compares them."""
    if toleration.get("effect") not in (None, "", effect):
        return False
    own, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    return exists if not own else str(own) == key and (exists or str(toleration.get("value") or "") == value)
