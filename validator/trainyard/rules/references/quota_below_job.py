"""A job needs more than the ResourceQuota of its namespace allows, so some of its pods are never created.

The API server refuses each pod that would exceed the quota (`exceeded quota`). The operator tries again forever, while
the pods that were created hold their GPUs and wait for the rest at the rendezvous.

The rule compares the requests and limits of all pods of the job with the hard limits of a quota in the same namespace
of the files. An elastic job needs its `minReplicas`. The rule ignores quotas with a scope, and plain Jobs, whose pods
may run one after another unless a launcher starts them together.

Make the job smaller, or raise the quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import starts_launcher
from trainyard.analysis.objects.folders import of_namespace
from trainyard.analysis.resources.requests import limits_of_pod, of_pod, place_of, pods_of, written
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource, Run


@rule(
    code="RF011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/policy/resource-quotas: requests, limits and extended resources",
        "kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota: exceeded quota",
    ),
    needs=("ResourceQuota",),
)
def quota_below_job(run: Run, context: Context) -> Iterator[Problem]:
    """Jobs that are larger than a quota of their namespace."""
    if run.kind in RUNTIMES or not _starts_together(run):
        return
    for quota in of_namespace(context.project, "ResourceQuota", run.namespace, run.at):
        yield from _exceeded(run, quota)


def _starts_together(run: Run) -> bool:
    return run.kind != "Job" or any(
        starts_launcher(command.words) and command.option("--nnodes") for command in run.commands
    )


def _exceeded(run: Run, quota: Resource) -> Iterator[Problem]:
    spec = mapping(quota.tree, "spec")
    if "scopes" in spec or "scopeSelector" in spec:
        return
    for name, hard in mapping(spec, "hard").items():
        limit, (kind, resource) = parse_quantity(hard), _resource(str(name))
        total = sum(_needed(run, index, kind, resource) for index in range(len(run.roles)))
        if limit is None or total <= limit:
            continue
        at = next((place_of(run, role, resource) for role in run.roles if resource in of_pod(role.pod)), run.at)
        what = "pods" if kind == "pods" else f"{resource} ({kind})"
        yield Problem(
            at,
            f"the pods of {run.kind} {run.name} need {written(total, resource)} {what}, but quota `{quota.name}` of "
            f"the namespace allows {written(limit, resource)}",
            "make the job smaller, or raise the quota",
            related=((quota.at.child("spec", "hard", name), "the quota"),),
        )


def _resource(name: str) -> tuple[str, str]:
    """The kind of a quota's limit, and its resource: `cpu` alone limits requests."""
    if name == "pods":
        return "pods", name
    kind, dot, resource = name.partition(".")
    return (kind, resource) if dot and kind in ("requests", "limits") else ("requests", name)


def _needed(run: Run, index: int, kind: str, resource: str) -> float:
    role = run.roles[index]
    each = 1.0 if kind == "pods" else (limits_of_pod if kind == "limits" else of_pod)(role.pod).get(resource, 0.0)
    return each * pods_of(role, run)
