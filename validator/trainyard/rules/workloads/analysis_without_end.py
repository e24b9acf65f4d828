"""The analysis of a step has an `interval` and no `count`, so it never ends, and the rollout stays in its step.

Argo Rollouts takes a measurement once. With `interval` alone it measures until somebody stops it. A background
analysis of a canary ends with the rollout. One in a step, or before and after the promotion of a blue-green rollout,
holds the rollout until it has ended: with an interval and no `count` it can only fail, or run for ever.

The rule follows `templateName` to AnalysisTemplates of the files.

Write `count` beside `interval`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_ROLLOUT, _TEMPLATE = "Rollout", "AnalysisTemplate"


@rule(
    code="WL039",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "argoproj/argo-rollouts v1.9.1 pkg/apis/rollouts/v1alpha1/analysis_types.go: Metric.Count, EffectiveCount",
        "argoproj/argo-rollouts v1.9.1 analysis/analysis.go: assessMetricStatus, this metric runs indefinitely",
        "github.com/argoproj/argo-rollouts issue 2691",
    ),
    needs=(_TEMPLATE,),
)
def analysis_without_end(project: Project) -> Iterator[Problem]:
    """Report metrics of a step that are measured without end."""
    told: set[int] = set()
    for rollout in project.of_kind(_ROLLOUT):
        for name, kind in _steps(rollout.tree):
            for template in fitting(project, kind, name, rollout.namespace, rollout.at)[:1]:
                metrics = items(template.tree, "spec", "metrics")
                for index, metric in enumerate(metrics if id(template) not in told else ()):
                    given = mapping(metric)
                    if "interval" in given and "count" not in given:
                        yield Problem(
                            template.at.child("spec", "metrics", index, "interval"),
                            f"the metric `{text(given, 'name')}` is measured at an interval without a `count`: the "
                            f"step of {_ROLLOUT} {rollout.name} never ends",
                            "add `count`",
                            related=((rollout.at.child("spec", "strategy"), "the strategy with the step"),),
                        )
                told.add(id(template))


def _steps(tree: Any) -> Iterator[tuple[str, str]]:
    """Yields the names and kinds of the templates of analyses for which a rollout waits."""
    strategy = mapping(tree, "spec", "strategy")
    waits = [mapping(step, "analysis") for step in items(strategy, "canary", "steps")]
    waits += [mapping(strategy, "blueGreen", name) for name in ("prePromotionAnalysis", "postPromotionAnalysis")]
    for analysis in waits:
        for entry in items(analysis, "templates"):
            name = text(entry, "templateName")
            is_wide = mapping(entry).get("clusterScope") is True
            if name:
                yield name, f"Cluster{_TEMPLATE}" if is_wide else _TEMPLATE
