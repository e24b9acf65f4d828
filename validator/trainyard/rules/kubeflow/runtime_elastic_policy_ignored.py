"""The runtime's elasticPolicy has no effect in any release of Kubeflow Trainer: the job never changes its size.

`mlPolicy.torch.elasticPolicy` with `minNodes`, `maxNodes` and `maxRestarts` was in the schema up to release 2.1, but
nothing reads it: torchrun gets `PET_NNODES` as one number, there is no restart, and no autoscaler is made of its
metrics. Release 2.2 took it out of the schema. Worse, the schema of 2.1 refuses `numNodes` beside it, so the run has
one node unless the TrainJob says otherwise.

Elastic PyTorchJobs of `kubeflow.org/v1` are another matter: there elasticPolicy works.

Remove it, write `numNodes`, and give torchrun `--max-restarts` in the command when failed workers shall start again.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUNTIMES
from validator.fields import mapping
from validator.model import Run
from validator.rule import Problem, rule


@rule(
    code="KF036",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.0.0 and v2.1.0 pkg/apis/trainer/v1alpha1/trainingruntime_types.go: TorchElasticPolicy "
        "is read nowhere in pkg/runtime, pkg/controller and pkg/webhooks",
        "kubeflow/trainer v2.2.0 pkg/apis/trainer/v1alpha1/trainingruntime_types.go: TorchMLPolicySource is empty",
    ),
    needs=("TrainingRuntime",),
)
def runtime_elastic_policy_ignored(run: Run) -> Iterator[Problem]:
    """Elasticity in a runtime."""
    if run.kind in RUNTIMES and mapping(run.spec, "mlPolicy", "torch").get("elasticPolicy") is not None:
        yield Problem(
            run.at.child("spec", "mlPolicy", "torch", "elasticPolicy").key(),
            "no release of Kubeflow Trainer acts on elasticPolicy",
            "remove it and write mlPolicy.numNodes",
        )
