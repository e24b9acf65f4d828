"""A pool of nodes is described with a label, or with a value of one, that no node has.

Karpenter starts no node for a NodePool whose requirement no type of instance meets: `karpenter.sh/capacity-type: xspot`
fits none. Kueue assigns a ResourceFlavor, and its pods then wait for a node with the labels of the flavor. A level of a
Topology without nodes has no domain. A policy of an operator with such a `nodeSelector` is applied nowhere.

The rule knows the labels that Kubernetes, clouds, Karpenter and NVIDIA's GPU operator set, as the rule
`node-label-never-set` does for pods. A cluster may set a label of such a name by hand: suppress the finding there.

Write the label as the message says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import is_known
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.hardware.node_labels import NAMES, VALUES
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource

# Where a kind has labels of nodes by their names.
_SELECTORS: dict[tuple[str, str], tuple[str, ...]] = {
    ("kueue.x-k8s.io", "ResourceFlavor"): ("spec", "nodeLabels"),
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy"): ("spec", "nodeSelector"),
    ("nvidia.com", "NVIDIADriver"): ("spec", "nodeSelector"),
    ("mellanox.com", "NicConfigurationTemplate"): ("spec", "nodeSelector"),
}
_REQUIREMENTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("karpenter.sh", "NodePool"): ("spec", "template", "spec", "requirements"),
    ("karpenter.sh", "NodeClaim"): ("spec", "requirements"),
}
_Label = tuple[str, Any, Place]


@rule(
    code="TP032",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference/labels-annotations-taints; karpenter.sh/docs/concepts/scheduling",
        "github.com/kubernetes-sigs/karpenter pull 2164",
    ),
    needs=("requirements", "nodeLabels", "nodeSelector", "nodeLabel"),
)
def pool_label_never_set(resource: Resource) -> Iterator[Problem]:
    """Report labels of pools that nothing sets."""
    kind = group_of(resource.api_version), resource.kind
    for name, value, at in _labels(resource, kind):
        if name in NAMES:
            key = at if isinstance(at.path[-1], str) and at.path[-1] in ("key", "nodeLabel") else at.key()
            yield Problem(key, f"nothing sets the label `{name}` on nodes", f"write `{NAMES[name]}`")
        elif isinstance(value, str) and name in VALUES and value not in VALUES[name] and is_known(value):
            have = format_list(f"`{one}`" for one in VALUES[name])
            yield Problem(at, f"`{name}` is never `{value}` on a node: no node belongs to this", f"write {have}")


def _labels(resource: Resource, kind: tuple[str, str]) -> Iterator[_Label]:
    path = _SELECTORS.get(kind, ())
    for name, value in mapping(resource.tree, *path).items() if path else ():
        yield str(name), value, resource.at.child(*path, name)
    path = _REQUIREMENTS.get(kind, ())
    for index, one in enumerate(items(resource.tree, *path) if path else ()):
        at, name = resource.at.child(*path, index), text(one, "key")
        yield name, None, at.child("key")
        values = items(one, "values") if text(one, "operator") == "In" else []
        # One right value is enough.
        if name in VALUES and not any(value in VALUES[name] for value in values):
            yield from ((name, value, at.child("values", number)) for number, value in enumerate(values))
    if kind == ("kueue.x-k8s.io", "Topology"):
        for index, one in enumerate(items(resource.tree, "spec", "levels")):
            yield text(one, "nodeLabel"), None, resource.at.child("spec", "levels", index, "nodeLabel")
