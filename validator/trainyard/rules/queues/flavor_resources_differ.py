"""The quotas of a flavor are not those of its group, so the webhook of Kueue refuses the queue.

Each flavor of a resource group lists a quota for every resource of `coveredResources`, in the same order, and for no
other. The API server answers "must have the same number of resources as the coveredResources" or "must match the name
in coveredResources", and the ClusterQueue or Cohort is not created. A quota or a limit below 0 is refused in the same
way: "must be greater than or equal to 0".

Write the same resources in both lists, in the same order, and quotas of at least 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Resource
from trainyard.startup import pattern

KINDS = ("ClusterQueue", "Cohort")
_QUANTITIES = ("nominalQuota", "borrowingLimit", "lendingLimit")
# A quantity below 0: `-0` is none.
_NEGATIVE = pattern(r"-[0.]*[1-9][0-9.]*([eE]?[0-9]+|[numkKMGTPE]i?)?")


@rule(
    code="QU017",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go: validateFlavorQuotas, "
        "validateResourceQuantity",
        "github.com/kubernetes-sigs/kueue issue 786",
    ),
    needs=("coveredResources",),
)
def flavor_resources_differ(resource: Resource) -> Iterator[Problem]:
    """Report flavors whose resources are not those of their group."""
    if resource.kind not in KINDS or not resource.api_version.startswith("kueue.x-k8s.io/"):
        return
    for number, group in enumerate(items(resource.tree, "spec", "resourceGroups")):
        covered = [str(name) for name in items(group, "coveredResources")]
        at = resource.at.child("spec", "resourceGroups", number)
        for index, flavor in enumerate(items(group, "flavors")):
            own = [text(one, "name") for one in items(flavor, "resources")]
            yield from _negative(resource, flavor, at.child("flavors", index, "resources"))
            if not covered or not own or own == covered:
                continue
            place = at.child("flavors", index, "resources")
            extra = next((one for one in own if one not in covered), None)
            if extra is not None:
                place, fault = place.child(own.index(extra), "name"), f"has a quota for {extra}, which the group lacks"
            elif missing := [one for one in covered if one not in own]:
                place, fault = place.key(), f"has no quota for {format_list(missing)}"
            elif twice := next((one for number, one in enumerate(own) if one in own[:number]), None):
                place, fault = place.key(), f"lists {twice} twice"
            else:
                place, fault = place.key(), "lists its resources in another order"
            needed = format_list([*covered, *([extra] if extra else [])])
            yield Problem(
                place,
                f"flavor `{text(flavor, 'name')}` {fault}: Kueue rejects the {resource.kind}",
                f"`coveredResources` and the flavor must both list {needed}",
                related=((at.child("coveredResources"), "the resources of the group"),),
            )


def _negative(resource: Resource, flavor: Any, at: Place) -> Iterator[Problem]:
    """Yields quotas and limits below 0."""
    for index, one in enumerate(items(flavor, "resources")):
        for field in _QUANTITIES:
            quantity = mapping(one).get(field)
            if isinstance(quantity, int | float | str) and _NEGATIVE.fullmatch(str(quantity)):
                yield Problem(
                    at.child(index, field),
                    f"{field} of {text(one, 'name')} is `{quantity}`: Kueue rejects the {resource.kind}",
                    "write a quantity of at least 0",
                )
