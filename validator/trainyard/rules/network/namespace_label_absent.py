"""A selector wants a namespace by a label with its name, and the namespace in the files does not have this label.

A `namespaceSelector` compares labels, and not names. The label `name: monitoring` is on a namespace only if somebody
writes it there. Without it, a NetworkPolicy blocks the namespace that it is meant to let in, a ClusterQueue admits no
job from it, and a webhook or a Prometheus leaves it out.

The rule applies if the value of the label is the name of a Namespace in the files, and no Namespace has a label of
this key. Every namespace has `kubernetes.io/metadata.name`.

Write `kubernetes.io/metadata.name` into the selector, or add the label to the Namespace.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.added_labels import added_labels
from trainyard.analysis.objects.folders import NESTED, distance
from trainyard.analysis.objects.object_references import walk
from trainyard.document.document import Rename
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.object_fields import NAMESPACE_SELECTORS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

# The API server writes this one.
_OF_NAME = "kubernetes.io/metadata.name"


@rule(
    code="NT073",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/network-policies: targeting a Namespace by its name",
        "github.com/prometheus-community/helm-charts issue 221",
    ),
    fix="unsafe",
    needs=("amespaceSelector", "allowedRoutes"),
)
def namespace_label_absent(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report labels with the name of a namespace that lacks them."""
    for kind, path in NAMESPACE_SELECTORS:
        if kind != resource.kind:
            continue
        for selector, at in walk(resource.tree, resource.at, tuple(path.split("."))):
            for key, value in mapping(selector, "matchLabels").items():
                namespace = _namespaces.of(context.project).get(str(value))
                if namespace is None or key == _OF_NAME or key in _labels.of(context.project):
                    continue
                if key in added_labels(context.project) or distance(namespace.at, resource.at) > NESTED:
                    continue
                place = at.child("matchLabels", key)
                yield Problem(
                    place,
                    f"the Namespace `{value}` has no label `{key}`, and nothing sets it: the selector leaves it out",
                    f"write `{_OF_NAME}: {value}`, which every namespace has",
                    (Rename(place, _OF_NAME),),
                    ((namespace.at.child("metadata", "name"), "the namespace"),),
                )


def _find_labels(project: Project) -> frozenset[str]:
    """Returns the keys of the labels of all namespaces."""
    return frozenset(
        str(key) for one in project.of_kind("Namespace") for key in mapping(one.tree, "metadata", "labels")
    )


_labels: LastIndex[Project, frozenset[str]] = LastIndex(_find_labels)
_namespaces: LastIndex[Project, dict[str, Resource]] = LastIndex(
    lambda project: {one.name: one for one in project.of_kind("Namespace")}
)
