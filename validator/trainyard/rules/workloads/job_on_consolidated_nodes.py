"""Karpenter may move the pods of the job to other nodes in the middle of the training.

A NodePool with the policy `WhenEmptyOrUnderutilized`, which is the default, replaces nodes that are not full. It evicts
their pods: the job restarts from its last checkpoint, or from the beginning. The annotation
`karpenter.sh/do-not-disrupt: "true"` of a pod keeps its node until the pod has ended.

The rule applies to jobs with GPUs that select a NodePool of the files by its name. Budgets with `nodes: "0"` keep all
nodes.

Annotate the pod template, or write `consolidationPolicy: WhenEmpty`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import everywhere
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

ANNOTATION = "karpenter.sh/do-not-disrupt"
LABEL = "karpenter.sh/nodepool"
MOVING = ("", "WhenEmptyOrUnderutilized", "WhenUnderutilized")


@rule(
    code="WL021",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "karpenter.sh/docs/concepts/disruption: consolidation, pod-level controls",
        "github.com/aws-samples/karpenter-blueprints pull 6, github.com/pytorch/ci-infra pull 145",
    ),
    needs=(LABEL,),
)
def job_on_consolidated_nodes(role: Role, context: Context) -> Iterator[Problem]:
    """Report jobs that Karpenter may interrupt."""
    run = context.run
    name = text(role.pod.tree, "nodeSelector", LABEL)
    if run is None or not run.is_job or not name or not wants_gpu(role.pod) or ANNOTATION in role.pod.annotations:
        return
    for pool in everywhere(context.project, "NodePool", name):
        disruption = mapping(pool.tree, "spec", "disruption")
        kept = any(
            str(budget.get("nodes")) == "0" for budget in items(disruption, "budgets") if isinstance(budget, dict)
        )
        kept = kept or text(disruption, "consolidateAfter") == "Never"
        if text(disruption, "consolidationPolicy") in MOVING and not kept:
            yield Problem(
                role.pod.template_at.key(),
                f"Karpenter consolidates nodes of the NodePool `{name}` while the job runs on them",
                f'annotate the pods with `{ANNOTATION}: "true"`',
                related=((pool.at.child("spec", "disruption"), "the policy"),),
            )
