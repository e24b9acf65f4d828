"""Two groups of pods in one job have the same name, so the job is refused or its pods come and go.

KubeRay tells the pods of a worker group by the label `ray.io/group`. With one `groupName` for two groups it counts the
pods of both for each of them: it creates pods for one group, deletes them as surplus of the other, and goes on so. The
name of a replicated job of a JobSet is the key of the list, and the API server refuses "Duplicate value".

Give each group a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Resource

_JOBS = "replicatedJobs"


@rule(
    code="WL025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/ray-project/kuberay issue 718",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/association.go: RayClusterGroupPodsAssociation",
        "kubernetes-sigs/jobset v0.10.1 api/jobset/v1alpha2/jobset_types.go: listMapKey of ReplicatedJobs",
    ),
    needs=("workerGroupSpecs", _JOBS),
)
def pod_group_name_repeated(resource: Resource) -> Iterator[Problem]:
    """Report the second group of a name."""
    first: dict[str, Place] = {}
    for name, at, what, consequence in _groups(resource):
        if name in first:
            message = f"two {what} are named `{name}`: {consequence}"
            yield Problem(at, message, "give each its own name", related=((first[name], "the other one"),))
        elif name and not has_parameter(name):
            first[name] = at


def _groups(resource: Resource) -> Iterator[tuple[str, Place, str, str]]:
    for group in groups_of(resource):
        if not group.is_head:
            at = group.at.child("groupName")
            yield group.name, at, "worker groups (groupName)", "KubeRay creates and deletes their pods in turn"
    path = ("spec", "template", "spec") if resource.kind in RUNTIMES else ("spec",)
    if resource.kind == "JobSet" or resource.kind in RUNTIMES:
        for index, job in enumerate(items(resource.tree, *path, _JOBS)):
            at = resource.at.child(*path, _JOBS, index, "name")
            yield text(job, "name"), at, "replicated jobs", "the API server refuses the JobSet"
