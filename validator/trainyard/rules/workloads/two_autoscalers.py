"""Two autoscalers scale the same workload, and each writes the number of its pods.

KEDA makes a HorizontalPodAutoscaler from each ScaledObject. Its webhook refuses a second one of the workload: "the
workload ... is already managed by the ScaledObject", or "by the hpa". Two HorizontalPodAutoscalers without KEDA are
taken, and the controller then scales with neither: `AmbiguousSelector`, `ScalingActive` is false.

The rule looks at objects of one file, or of files that one kustomization lists.

Write the triggers or the metrics of both into one: the highest number of pods wins. To hand a workload over to KEDA,
annotate the ScaledObject with `scaledobject.keda.sh/transfer-hpa-ownership`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.neighbours import together
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource

_KINDS, _TARGET = ("ScaledObject", "HorizontalPodAutoscaler"), "scaleTargetRef"
_TRANSFER, _UNCHECKED = "scaledobject.keda.sh/transfer-hpa-ownership", "validations.keda.sh/hpa-ownership"


@rule(
    code="WL036",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kedacore/keda main 8b4f083c apis/keda/v1alpha1/scaledobject_webhook.go: verifyHpas, verifyScaledObjects",
        "kubernetes v1.37.2 pkg/controller/podautoscaler/horizontal.go: AmbiguousSelector",
        "github.com/kedacore/keda issue 3755",
    ),
    needs=(_TARGET,),
)
def two_autoscalers(project: Project) -> Iterator[Problem]:
    """Report the second autoscaler of a workload."""
    first: dict[tuple[str, str, str], Resource] = {}
    for one in project.of_kind(*_KINDS):
        target, annotations = mapping(one.tree, "spec", _TARGET), mapping(one.tree, "metadata", "annotations")
        name = text(target, "name")
        if not name or not one.name or "{" in name or "$" in name or {_TRANSFER, _UNCHECKED} & annotations.keys():
            continue
        other = first.setdefault((text(target, "kind") or "Deployment", name, one.namespace), one)
        if (other.kind, other.name) == (one.kind, one.name) or not together(project, other.at, one.at):
            continue
        yield Problem(
            one.at.child("spec", _TARGET, "name"),
            f"{other.kind} {other.name} already scales {text(target, 'kind') or 'Deployment'} `{name}`: two "
            "autoscalers of one workload are refused, or do not scale",
            "write the triggers or metrics of both into one object",
            related=((other.at.child("spec", _TARGET, "name"), "the other autoscaler"),),
        )
