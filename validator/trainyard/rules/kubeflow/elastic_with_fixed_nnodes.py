"""torchrun gets a fixed --nnodes in a job with an elasticPolicy, so the job cannot scale.

The operator passes the elastic range as `PET_NNODES=<min>:<max>`, and an option on the command line overrides the
variable. With `--nnodes=4` the rendezvous waits for exactly four pods: after the loss of one, the others wait until
they time out, and Workers that the autoscaler adds are never admitted. In `kubectl`, which shows only
`Worker.replicas`, the job looks elastic.

The rule skips a range on the command line, and a job whose elasticPolicy sets the same fixed number.

Remove `--nnodes`, or write the range: `--nnodes=$(PET_NNODES)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import elastic_range
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import bounds
from trainyard.model.run import Container


@rule(
    code="KF021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/elastic.go: generateEnvNnodes",
        "pytorch torch/distributed/run.py: options take their defaults from PET_ variables; parse_min_max_nnodes",
    ),
    needs=("elasticPolicy",),
)
def elastic_with_fixed_nnodes(container: Container, context: Context) -> Iterator[Problem]:
    """Report a fixed number of nodes on the command line of an elastic job."""
    run = context.run
    if run is None or run.kind != "PyTorchJob" or run.elastic is None:
        return
    low, high = elastic_range(run)
    for launch in torchrun_commands(container):
        found = launch.option_at("--nnodes")
        told = bounds(found[0]) if found is not None else None
        if found is None or told is None or told[0] != told[1] or told == (low, high):
            continue
        yield Problem(
            found[1],
            f"`--nnodes={found[0]}` overrides the elastic range {low}:{high} (PET_NNODES)",
            "remove --nnodes: the operator passes the range as PET_NNODES",
            related=((run.at.child("spec", "elasticPolicy").key(), "the range"),),
        )
