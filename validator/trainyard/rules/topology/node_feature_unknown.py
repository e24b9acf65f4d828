"""The rule of Node Feature Discovery matches a feature that is not discovered, so it never matches.

NFD finds features of the hardware, the kernel and the system, such as `pci.device` and `system.name`. It has none for
the labels of a node: a rule cannot read what another program or a person labelled. No node gets the label of a rule
with an unknown feature, and pods that select it stay Pending. NFD reports nothing.

The rule knows the domains of NFD, and leaves others to the programs of vendors, which write NodeFeature objects.

Write the name of the feature as in the documentation of NFD. `system.name` has the name of the node as `nodename`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.kubernetes.node_features import FEATURES, INVENTED
from trainyard.model.run import Project, Resource

_LISTS = {"NodeFeatureRule": "rules", "NodeFeatureGroup": "featureGroupRules"}


@rule(
    code="TP030",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/node-feature-discovery docs/usage/customization-guide.md: available features",
        "github.com/kubernetes-sigs/node-feature-discovery-operator issue 268",
    ),
    needs=tuple(_LISTS),
)
def node_feature_unknown(project: Project) -> Iterator[Problem]:
    """Report features that NFD does not discover."""
    if any(True for _ in project.of_kind("NodeFeature")):
        return
    for resource in project.of_kind(*_LISTS):
        for feature, at in _features(resource):
            domain, _, name = feature.lower().partition(".")
            known = FEATURES.get(domain)
            if (known is None and domain in INVENTED) or (known is not None and name not in known):
                near = closest_match(name, known or (), 0.6)
                yield Problem(
                    at,
                    f"Node Feature Discovery has no feature `{feature}`: the rule never matches",
                    f"did you mean `{domain}.{near}`?" if near else "write a feature of its documentation",
                )


def _features(resource: Resource) -> Iterator[tuple[str, Place]]:
    """Yields the features that the rules of an object match, each with its place."""
    field = _LISTS[resource.kind]
    for index, one in enumerate(items(resource.tree, "spec", field)):
        at = resource.at.child("spec", field, index)
        yield from _terms(one, at)
        for number, other in enumerate(items(one, "matchAny")):
            yield from _terms(other, at.child("matchAny", number))


def _terms(tree: Any, at: Place) -> Iterator[tuple[str, Place]]:
    for index, term in enumerate(items(tree, "matchFeatures")):
        feature = text(term, "feature")
        if "." in feature and "{" not in feature:
            yield feature, at.child("matchFeatures", index, "feature")
