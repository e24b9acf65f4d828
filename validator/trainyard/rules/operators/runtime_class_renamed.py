"""Pods ask for the runtime class `nvidia`, and the GPU operator creates it under another name.

The operator creates a RuntimeClass of the name in `operator.runtimeClass`, by default `nvidia`. Pods that name a class
which does not exist are rejected: `RuntimeClass "nvidia" not found`.

The rule applies if the files hold both, and no other RuntimeClass of the name.

Write one name in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import is_known
from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

DEFAULT = "nvidia"


@rule(
    code="GO022",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: transformRuntimeClass",
        "github.com/NVIDIA/aicr pull 2183",
    ),
    needs=("runtimeClassName",),
)
def runtime_class_renamed(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods with the default class where it has another name."""
    if text(pod.tree, "runtimeClassName") != DEFAULT or is_known(context.project, "RuntimeClass", DEFAULT):
        return
    names = _names.of(context.project)
    if names and DEFAULT not in names:
        name, at = next(iter(names.items()))
        yield Problem(
            pod.at.child("runtimeClassName"),
            f"the GPU operator creates the runtime class `{name}` and not `{DEFAULT}`: the pod is rejected",
            f"write `runtimeClassName: {name}`, or leave `operator.runtimeClass` at its default",
            related=((at, "the name of the class"),),
        )


def _find_names(project: Project) -> Iterator[tuple[str, Place]]:
    """Yields the names that policies and values of the operator give to the class, with their places."""
    for policy in project.of_kind("ClusterPolicy"):
        if policy.api_version.startswith("nvidia.com/"):
            at = policy.at.child("spec", "operator", "runtimeClass")
            yield text(policy.tree, "spec", "operator", "runtimeClass") or DEFAULT, at
    for release in releases(project):
        if release.chart == "gpu-operator":
            name = text(release.values, "operator", "runtimeClass") or DEFAULT
            yield name, release.place("operator", "runtimeClass")


_names: LastIndex[Project, dict[str, Place]] = LastIndex(lambda project: dict(_find_names(project)))
