"""A rule of a Role names a resource that its API groups do not have, so it grants nothing, and the program is refused.

Kubernetes takes any words in a Role. `pods/logs` (the subresource is `pods/log`), `pod`, `Jobs`, or `jobs` with the
group `""` are accepted and never match a request. The program ends with `forbidden: User "system:serviceaccount:..."
cannot get resource "pods/log"`.

The rule knows the resources of the groups `""`, `apps`, `batch`, `rbac.authorization.k8s.io`, `networking.k8s.io` and
`coordination.k8s.io`. It says nothing of a rule with another group beside them, of names that it does not know at all,
or of a resource that another rule of the same Role grants with the right group.

Write the name in the plural and in lower case, and the group that `kubectl api-resources` shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.kubernetes.rbac import GROUPS, SUBRESOURCES
from trainyard.model.run import Resource


@rule(
    code="RF035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference/access-authn-authz/rbac: referring to resources",
        "kubernetes v1.34.4 api/discovery: aggregated resources and subresources",
        "github.com/argoproj/argo-workflows issue 2287, github.com/infinispan/infinispan-operator issue 1615",
        "github.com/pulp/pulp-operator pull 602",
    ),
    needs=("rbac.authorization.k8s.io",),
)
def role_grants_nothing(resource: Resource) -> Iterator[Problem]:
    """Report resources that no group of the rule has."""
    if resource.kind not in ("Role", "ClusterRole") or not resource.api_version.startswith("rbac."):
        return
    rules = items(resource.tree, "rules")
    for index, entry in enumerate(rules):
        groups = [str(group) for group in items(entry, "apiGroups")]
        if not groups or any(group not in GROUPS for group in groups):
            continue
        at = resource.at.child("rules", index, "resources")
        for number, name in enumerate(items(entry, "resources")):
            if isinstance(name, str):
                yield from _judge(name, groups, rules, at.child(number))


def _judge(name: str, groups: list[str], rules: list[Any], at: Place) -> Iterator[Problem]:
    parent, _, below = name.partition("/")
    known = {one for group in groups for one in GROUPS[group]}
    subresources = ("", "finalizers", *SUBRESOURCES.get(parent, ()))
    if "*" in name or (parent in known and below in subresources):
        return
    if parent in known:
        near = closest_match(below, sorted(SUBRESOURCES.get(parent, ())), 0.6)
        # A virtual subresource of a controller is possible.
        if near is not None:
            yield Problem(
                at,
                f"`{parent}` has no subresource `{below}`: the rule grants nothing for `{name}`",
                f"did you mean `{parent}/{near}`?",
            )
        return
    meant = _spelt(parent, known)
    if meant is not None:
        yield Problem(at, f"no API has the resource `{parent}`: the rule grants nothing for it", f"write `{meant}`")
        return
    homes = [group for group in GROUPS if parent in GROUPS[group]]
    if homes and not _granted(parent, homes, rules):
        home = homes[0] or '""'
        yield Problem(
            at,
            f"`{parent}` belongs to the group `{home}` and not to {_shown(groups)}: the rule grants nothing for it",
            f"move it to a rule with `apiGroups: [{home}]`",
        )


def _spelt(name: str, known: set[str]) -> str | None:
    """Returns the resource of which a name is the kind or the singular."""
    low = name.lower()
    return next((one for one in sorted(known) if one in (low, f"{low}s", f"{low}es", f"{low[:-1]}ies")), None)


def _granted(name: str, homes: list[str], rules: list[Any]) -> bool:
    return any(
        name in items(entry, "resources") and any(group in (*homes, "*") for group in items(entry, "apiGroups"))
        for entry in rules
    )


def _shown(groups: list[str]) -> str:
    return ", ".join(f"`{group}`" if group else '`""`' for group in groups)
