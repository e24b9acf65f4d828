"""Grove refuses the PodCliqueSet: a minimum is above the number of replicas, or a part may spread wider than the whole.

Each clique, and each group of cliques that scale together, has `replicas`, of which `minAvailable` must start at the
same time. The topology constraint of the set holds for all of it: if every replica of the set is on one host, a clique
in it cannot be given a rack. What is required of a set or of a group must be as wide as, or wider than, what is
required of its cliques. A group names cliques of the same set, and no clique is in two groups.

The order of the domains is that of the ClusterTopologyBinding or ClusterTopology in the files, otherwise the usual one
from region to NUMA node.

Correct the field that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project, Resource

_BINDINGS = ("ClusterTopologyBinding", "ClusterTopology")
# From the widest to the narrowest.
_DOMAINS = ("region", "zone", "datacenter", "block", "rack", "host", "numa")


@rule(
    code="QU041",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ai-dynamo/grove v0.1.0-alpha.11 operator/internal/webhook/admission/pcs/validation/podcliqueset.go: "
        "validatePodCliqueSpec, validatePodCliqueScalingGroupConfigs",
        "ai-dynamo/grove v0.1.0-alpha.11 operator/internal/webhook/admission/pcs/validation/topologyconstraints.go",
        "github.com/ai-dynamo/grove issues 255 and 304",
    ),
    needs=("PodCliqueSet",),
)
def pod_clique_set_refused(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report fields that the webhook rejects."""
    if resource.kind != "PodCliqueSet" or not resource.api_version.startswith("grove.io/"):
        return
    tree, at = mapping(resource.tree, "spec", "template"), resource.at.child("spec", "template")
    cliques = {
        text(one, "name"): (mapping(one), at.child("cliques", index))
        for index, one in enumerate(items(tree, "cliques"))
    }
    groups = [
        (mapping(one), at.child("podCliqueScalingGroups", index))
        for index, one in enumerate(items(tree, "podCliqueScalingGroups"))
    ]
    for name, (one, place) in cliques.items():
        yield from _minimum(mapping(one, "spec"), place.child("spec"), f"clique {name}")
    taken: dict[str, str] = {}
    for group, place in groups:
        title = f"group {text(group, 'name')}"
        yield from _minimum(group, place, title)
        for number, name in enumerate(items(group, "cliqueNames")):
            if isinstance(name, str) and name not in cliques:
                near = closest_match(name, list(cliques), 0.6)
                yield Problem(
                    place.child("cliqueNames", number),
                    f"the set has no clique `{name}`: Grove refuses it",
                    f"did you mean `{near}`?" if near else f"the cliques are {', '.join(cliques)}",
                )
            elif isinstance(name, str) and taken.setdefault(name, title) != title:
                yield Problem(
                    place.child("cliqueNames", number), f"clique `{name}` is in {taken[name]}, too: Grove refuses both"
                )
    yield from _topology(tree, at, cliques, groups, _order(tree, context.project))


def _minimum(tree: dict[str, Any], at: Place, title: str) -> Iterator[Problem]:
    least, replicas = integer(tree, "minAvailable"), integer(tree, "replicas")
    count = 1 if replicas is None and "replicas" not in tree else replicas
    if least is not None and count is not None and least > count:
        yield Problem(
            at.child("minAvailable"),
            f"{title} needs {least} replicas to start and has {count}: Grove refuses the set",
            f"write minAvailable of at most {count}, or more replicas",
            related=((at.child("replicas"), "the replicas"),) if replicas is not None else (),
        )


def _topology(
    tree: dict[str, Any],
    at: Place,
    cliques: dict[str, tuple[dict[str, Any], Place]],
    groups: list[tuple[dict[str, Any], Place]],
    order: tuple[str, ...],
) -> Iterator[Problem]:
    parts = [(one, place, f"clique {name}") for name, (one, place) in cliques.items()]
    parts += [(one, place, f"group {text(one, 'name')}") for one, place in groups]
    pairs = [((tree, at, "the set"), part) for part in parts]
    for group, place in groups:
        whole = (group, place, f"group {text(group, 'name')}")
        names = [name for name in items(group, "cliqueNames") if isinstance(name, str) and name in cliques]
        pairs += [(whole, (*cliques[name], f"clique {name}")) for name in names]
    for whole, part in pairs:
        upper, lower = _required(*whole[:2]), _required(*part[:2])
        if upper is None or lower is None or upper[0] not in order or lower[0] not in order:
            continue
        if order.index(upper[0]) > order.index(lower[0]):
            yield Problem(
                upper[1],
                f"{whole[2]} must fit in one {upper[0]}, which is narrower than the {lower[0]} of {part[2]}: Grove "
                "refuses the set",
                f"write `{lower[0]}` or a wider domain here, or a narrower one for {part[2]}",
                related=((lower[1], part[2]),),
            )


def _required(tree: dict[str, Any], at: Place) -> tuple[str, Place] | None:
    """Returns the domain in which all of a part must be, with its place."""
    for path in (("topologyConstraint", "pack", "required"), ("topologyConstraint", "packDomain")):
        if found := text(tree, *path):
            return found, at.child(*path)
    return None


def _order(tree: dict[str, Any], project: Project) -> tuple[str, ...]:
    """Returns the domains of the topology that a set names, from the widest to the narrowest."""
    name, known = text(tree, "topologyConstraint", "topologyName"), project.of_kind(*_BINDINGS)
    meant = [one for one in known if one.name == name] or (list(known) if len(known) == 1 and not name else [])
    return tuple(text(level, "domain") for level in items(meant[0].tree, "spec", "levels")) if meant else _DOMAINS
