"""The pod sets of an AppWrapper are not those of the object that it wraps.

`podSets` of a component state for Kueue how many pods of which template it must admit. Each `path` leads from the
component to a pod template, such as `template.spec.template`, and `replicas` is the number of its pods, 1 by default.
For a PyTorchJob, Job, JobSet, RayCluster, Deployment and others the AppWrapper computes the pod sets itself and
rejects other numbers. For the rest it believes them: Kueue reserves the quota of another number of pods, and the job
exceeds it or waits for too much.

Remove `podSets` for a kind that the AppWrapper knows; else write the path and the number of the object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource, Role

STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,4})\]")
PATH = re.compile(r"template(\.[^.\[\]]+(\[\d{1,4}\])?)*\Z")


@rule(
    code="WL007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "project-codeflare/appwrapper v1.2.1 pkg/utils/utils.go: InferPodSets, ValidatePodSets, GetPodTemplateSpec",
        "project-codeflare/appwrapper v1.2.1 internal/webhook/appwrapper_webhook.go: validateAppWrapperCreate",
    ),
    needs=("AppWrapper",),
)
def app_wrapper_pod_sets(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report pod sets that are not in the wrapped object."""
    if resource.kind != "AppWrapper":
        return
    for index, component in enumerate(items(resource.tree, "spec", "components")):
        at = resource.at.child("spec", "components", index)
        roles = _roles(at.child("template"), context)
        for number, pods in enumerate(items(component, "podSets")):
            place = at.child("podSets", number)
            path = text(pods, "path")
            steps = [int(item) if item else name for name, item in STEP.findall(path)]
            found = _value(component, steps) if PATH.match(path) else None
            if path and not mapping(found, "spec"):
                yield Problem(
                    place.child("path"), f"`{path}` is not a pod template of the component", "write the path of one"
                )
                continue
            role = roles.get((*at.path, *steps))
            told = 1 if mapping(pods).get("replicas") is None else integer(pods, "replicas")
            if role is None or role.replicas is None or told is None or _may_need_fewer(role):
                continue
            if told != role.replicas:
                yield Problem(
                    place.child("replicas"),
                    f"the pod set has {told} pod{'s' * (told != 1)}, but {role.name} has {role.replicas}",
                    f"write {role.replicas}, or remove podSets",
                    related=((role.at.child("replicas"), "the number of pods"),),
                )


def _may_need_fewer(role: Role) -> bool:
    """Returns true for a Job with fewer completions than pods at a time."""
    completions = integer(role.tree, "completions")
    return completions is not None and completions != integer(role.tree, "parallelism")


def _roles(at: Place, context: Context) -> dict[tuple[Any, ...], Role]:
    """Returns the roles of the wrapped object, by the path of their template."""
    runs = (run for run in context.project.runs if run.at.document is at.document and run.at.path == at.path)
    return {role.pod.template_at.path: role for run in runs for role in run.roles}


def _value(tree: Any, steps: list[str | int]) -> Any:
    for step in steps:
        known = step in tree if isinstance(tree, dict) else isinstance(tree, list) and step in range(len(tree))
        tree = tree[step] if known else None
    return tree
