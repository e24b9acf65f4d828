"""The runtime counts its launcher as a node, and lacks a job `launcher` or `node`, so TrainJobs with nodes are refused.

With `mpi.runLauncherAsNode: true`, Trainer gives one of the nodes to the replicated job `launcher`, and the others to
the one named `node`. If one of the two names is missing, the webhook refuses each TrainJob with `numNodes` of 2 or
more: "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode does not have either launcher and node".

The rule looks at the names of `replicatedJobs` in a TrainingRuntime or a ClusterTrainingRuntime with at least two
jobs.

Name the two jobs `launcher` and `node`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Resource

_NEEDED = ("launcher", "node")


@rule(
    code="KF058",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer 0242577 pkg/runtime/framework/plugins/mpi/mpi.go: Validate, EnforceMLPolicy",
        "github.com/kubeflow/trainer issue 2550",
    ),
    needs=("runLauncherAsNode",),
)
def launcher_counts_without_node(resource: Resource) -> Iterator[Problem]:
    """Report runtimes whose jobs have other names."""
    spec = mapping(resource.tree, "spec")
    if resource.kind not in RUNTIMES or mapping(spec, "mlPolicy", "mpi").get("runLauncherAsNode") is not True:
        return
    names = [text(job, "name") for job in items(spec, "template", "spec", "replicatedJobs")]
    missing = [name for name in _NEEDED if name not in names]
    if len(names) < len(_NEEDED) or not missing:
        return
    yield Problem(
        resource.at.child("spec", "template", "spec", "replicatedJobs").key(),
        f"`runLauncherAsNode` needs a job `{missing[0]}`: a TrainJob with `numNodes` of 2 or more is refused",
        f"the jobs are {format_list(f'`{name}`' for name in names)}; rename one to `{missing[0]}`",
        related=((resource.at.child("spec", "mlPolicy", "mpi", "runLauncherAsNode"), "the launcher is a node"),),
    )
