"""The pod selects nodes by a label that no NodePool of the files sets, so Karpenter starts no node for it.

Karpenter starts a node only from a NodePool whose labels and requirements fit the pod. It logs "label does not have
known values". The usual cause is a label of an older NodePool that was renamed.

The rule looks at labels without a domain, if the files have NodePools and no other groups of nodes. A label that no
NodePool has, nor one like it, counts only if all NodePools are near the pod: in a folder beside it, above or below. A
repository may hold several clusters, and a chart is installed beside pools of others. Labels that people set on nodes
by hand have a domain in most clusters; suppress the finding for others.

Add the label to `spec.template.metadata.labels` of a NodePool, or select one that it sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.loaders.origins import RenderedDocument
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

_OTHER_GROUPS = ("ClusterConfig", "MachineDeployment", "MachinePool", "MachineSet", "ManagedNodeGroup", "Node")


@rule(
    code="TP021",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "karpenter.sh/docs/concepts/scheduling: selecting nodes, user-defined labels",
        "github.com/awslabs/ai-on-eks pull 238",
        "github.com/knowledgesystems/knowledgesystems-k8s-deployment issue 452",
    ),
    needs=("nodeSelector",),
)
def node_label_of_no_pool(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report labels that none of the NodePools sets."""
    selected = mapping(pod.tree, "nodeSelector")
    known = _labels.of(context.project) if selected else None
    for name, value in selected.items() if known else ():
        written = str(value)
        if "/" in str(name) or "{" in written or "$" in written or not known:
            continue
        values = known.get(str(name))
        if values is None or (values and written not in values):
            near = (
                closest_match(str(name), sorted(known), 0.7) if values is None else closest_match(written, values, 0.6)
            )
            is_installed = isinstance(pod.at.document, RenderedDocument)
            if near is None and (is_installed or (values is None and not _is_near(pod, context.project))):
                continue
            yield Problem(
                pod.at.child("nodeSelector", name),
                f"no NodePool of the files gives its nodes the label `{name}: {written}`: the pod stays Pending",
                f"did you mean `{near}`?" if near is not None else "add the label to a NodePool",
            )


def _is_near(pod: Pod, project: Project) -> bool:
    """True if each NodePool is in a folder beside that of the pod, above or below it."""
    own = _folder(pod.at)
    return all(own[: len(one)] == one[: len(own)] or own[:-1] == one[:-1] for one in _folders.of(project))


def _folder(at: Place) -> tuple[str, ...]:
    return Path(at.document.source.name).parts[:-1]


def _find(project: Project) -> dict[str, list[str]]:
    """Returns the values of each label that NodePools give; none if they do not tell. Empty without NodePools."""
    found: dict[str, dict[str, None]] = {}
    if any(project.of_kind(kind) for kind in _OTHER_GROUPS):
        return {}
    for pool in project.of_kind("NodePool"):
        if not pool.api_version.startswith("karpenter.sh/"):
            continue
        template: dict[str, Any] = mapping(pool.tree, "spec", "template")
        found.setdefault("karpenter.sh/nodepool", {})[pool.name] = None
        for name, value in mapping(template, "metadata", "labels").items():
            found.setdefault(str(name), {})[str(value)] = None
        for one in map(mapping, items(template, "spec", "requirements")):
            listed = [str(value) for value in items(one, "values")] if one.get("operator") == "In" else []
            if one.get("operator") in ("In", "Exists"):
                found.setdefault(str(one.get("key")), {}).update(dict.fromkeys(listed))
    return {name: list(values) for name, values in found.items()}


_labels: LastIndex[Project, dict[str, list[str]]] = LastIndex(_find)
_folders: LastIndex[Project, frozenset[tuple[str, ...]]] = LastIndex(
    lambda project: frozenset(_folder(pool.at) for pool in project.of_kind("NodePool"))
)
