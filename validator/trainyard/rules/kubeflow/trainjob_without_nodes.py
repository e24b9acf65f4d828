"""The TrainJob asks for no node or no process, so nothing trains.

`numNodes: 0` makes a job without trainer pods, which waits or ends at once. `numProcPerNode: 0` or a negative number
reaches torchrun as `PET_NPROC_PER_NODE`, and each pod fails. Newer releases of Kubeflow Trainer refuse both.

Write at least 1. To stop a run, use `suspend: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

FIELDS = ("numNodes", "numProcPerNode")


@rule(
    code="KF045",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/plainml/plainml.go and torch/torch.go: EnforceMLPolicy",
        "pytorch 2.15.0 torch/distributed/run.py: determine_local_world_size",
        "github.com/kubeflow/trainer issue 3805 and pull 3809",
    ),
    needs=("TrainJob",),
)
def trainjob_without_nodes(resource: Resource) -> Iterator[Problem]:
    """Report counts below one."""
    if resource.kind != "TrainJob":
        return
    trainer = mapping(resource.tree, "spec", "trainer")
    for field in FIELDS:
        value = trainer.get(field)
        if isinstance(value, int) and not isinstance(value, bool) and value < 1:
            yield Problem(
                resource.at.child("spec", "trainer", field),
                f"`{field}` is {value}, so nothing trains; newer releases of Kubeflow Trainer refuse it",
                "write at least 1, or `suspend: true` to stop the run",
            )
