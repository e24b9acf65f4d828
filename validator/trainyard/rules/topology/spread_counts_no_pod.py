"""The spread constraint has no `labelSelector`, so it counts no pods and has no effect.

The scheduler counts the pods that the selector fits in each zone or on each node. Without a selector it counts none,
every node is as good as any other, and all pods may land on one node. The API server accepts the constraint without a
word. An empty selector, `labelSelector: {}`, selects all pods of the namespace.

Add a `labelSelector` with the labels of the pod template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import is_patch
from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.schemas.partial import is_assertion, is_named_patch, is_partial
from trainyard.model.run import Pod


@rule(
    code="TP031",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/scheduler/framework/plugins/podtopologyspread/common.go: countPodsMatchSelector",
        "kubernetes v1.37.2 apimachinery pkg/apis/meta/v1/helpers.go: a nil selector is labels.Nothing()",
        "github.com/kubernetes/website issue 43406, github.com/kubernetes/kubernetes issue 135797",
    ),
    needs=("topologySpreadConstraints",),
)
def spread_counts_no_pod(pod: Pod) -> Iterator[Problem]:
    """Report spread constraints without a selector."""
    document = pod.at.document
    if is_patch(pod) or is_named_patch(document) or is_assertion(document) or is_partial(document):
        return
    for index, one in enumerate(items(pod.tree, "topologySpreadConstraints")):
        if not isinstance(one, dict) or not one.get("topologyKey") or one.get("matchLabelKeys"):
            continue
        if one.get("labelSelector") is None:
            key = next(iter(pod.labels), None)
            label = f"{key}: {pod.labels[key]}" if key is not None else "app: NAME"
            yield Problem(
                pod.at.child("topologySpreadConstraints", index),
                "the spread constraint has no `labelSelector`: it counts no pods and has no effect",
                f"add `labelSelector.matchLabels` with the labels of the pods, such as `{label}`",
            )
