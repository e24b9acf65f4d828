"""The TrainJob's `resourcesPerNode` takes away a resource that the runtime gives its container.

Trainer puts `spec.trainer.resourcesPerNode` into the container `node` of the runtime. The claims of that container, for
dynamic resource allocation, are lost in all releases: the pod holds the claim and the container gets no device of it,
such as the IMEX channel of a ComputeDomain. Before 2.3 all of the runtime's resources are replaced, so that a TrainJob
which names GPUs alone loses the RDMA devices: NCCL then uses TCP. Trainer 2.3 merges limits and requests by name.

Such devices are reported if the files, or `--target trainer=2.2`, show a release before 2.3.

Write every resource in `resourcesPerNode`. Claims cannot stand there: remove `resourcesPerNode`, and write the
resources into the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.controllers import trainer_of
from trainyard.analysis.objects.releases import chart_version
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR, STEP_CONTAINERS
from trainyard.facts.versions import before
from trainyard.model.run import Run

_CHART = "kubeflow-trainer"
_STEP = "trainer"
_MERGES = (2, 3)
_PLAIN = ("cpu", "memory", "ephemeral-storage")


@rule(
    code="KF059",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/NVIDIA/aicr issues 2276 and 2287",
        "kubeflow/trainer v2.2.1 pkg/runtime/framework/plugins/jobset/builder.go: WithResources of resourcesPerNode",
        "kubeflow/trainer v2.3.0 pkg/util/trainingruntime/trainingruntime.go: MergeResourceRequirements",
    ),
    needs=("resourcesPerNode",),
)
def trainjob_resources_lost(run: Run, context: Context) -> Iterator[Problem]:
    """Report claims and devices of the runtime that a TrainJob replaces."""
    own = mapping(run.spec, "trainer", "resourcesPerNode") if run.kind == "TrainJob" else {}
    given = mapping(own, "limits") | mapping(own, "requests")
    if not given:
        return
    at = run.at.child("spec", "trainer", "resourcesPerNode").key()
    is_merged = not before(_version(context), _MERGES)
    for tree in _containers(run):
        yield from _lost(tree, given, at, is_merged=is_merged)


def _version(context: Context) -> tuple[int, ...] | None:
    """Returns the version of Trainer: that of its image or its chart in the files, otherwise that of the target."""
    return trainer_of(context.project, chart_version(context.project, _CHART) or context.target.trainer)


def _containers(run: Run) -> Iterator[dict[str, object]]:
    """Yields the container of the runtime that trains."""
    for job in items(run.runtime, "template", "spec", "replicatedJobs"):
        if text(job, "template", "metadata", "labels", ANCESTOR) != _STEP:
            continue
        for one in items(job, "template", "spec", "template", "spec", "containers"):
            if text(one, "name") == STEP_CONTAINERS[_STEP]:
                yield one


def _lost(tree: dict[str, object], given: dict[str, object], at: Place, *, is_merged: bool) -> Iterator[Problem]:
    claims = [text(one, "name") for one in items(tree, "resources", "claims")]
    if claims:
        yield Problem(
            at,
            f"resourcesPerNode replaces the claims of the runtime: the container gets no device of `{claims[0]}`",
            "remove resourcesPerNode, and write the resources into the runtime",
        )
    theirs = mapping(tree, "resources", "limits") | mapping(tree, "resources", "requests")
    lost = [name for name in theirs if name not in _PLAIN and name not in given]
    if lost and not is_merged:
        yield Problem(
            at,
            f"resourcesPerNode replaces all resources of the runtime before Trainer 2.3: the pods get no `{lost[0]}`",
            f"write `{lost[0]}: {theirs[lost[0]]}` here, too",
        )
