"""torchrun is given a fixed --nnodes beside an elasticPolicy, so the job cannot change its size.

The operator passes the elastic range as `PET_NNODES=<min>:<max>`, and an option on the command line wins over the
variable. With `--nnodes=4` the rendezvous waits for exactly four pods: after the loss of one the others wait until
they time out, and Workers that the autoscaler adds are never admitted. Everything looks elastic in `kubectl`, where
only `Worker.replicas` is seen.

A range on the command line is left alone, and so is a job whose elasticPolicy asks for the same fixed number.

Leave `--nnodes` out, or write the range: `--nnodes=$(PET_NNODES)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.torchrun import bounds, launches
from validator.facts.kubeflow import elastic_range
from validator.model import Container
from validator.rule import Context, Problem, rule


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
    """A fixed number of nodes on the command line of an elastic job."""
    run = context.run
    if run is None or run.kind != "PyTorchJob" or run.elastic is None:
        return
    low, high = elastic_range(run)
    for launch in launches(container):
        found = launch.option_at("--nnodes")
        told = bounds(found[0]) if found is not None else None
        if found is None or told is None or told[0] != told[1] or told == (low, high):
            continue
        yield Problem(
            found[1],
            f"torchrun takes --nnodes={found[0]} and not the elastic range {low}:{high}",
            "leave --nnodes out: the operator passes the range as PET_NNODES",
            related=((run.at.child("spec", "elasticPolicy").key(), "the range"),),
        )
