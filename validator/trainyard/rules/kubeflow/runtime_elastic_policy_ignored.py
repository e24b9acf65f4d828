"""The runtime's elasticPolicy has no effect in any release of Kubeflow Trainer: the job never scales.

`mlPolicy.torch.elasticPolicy` with `minNodes`, `maxNodes` and `maxRestarts` was in the schema up to release 2.1, but
nothing reads it: torchrun gets `PET_NNODES` as one number, there is no restart, and its metrics create no autoscaler.
Release 2.2 removed it from the schema. Moreover, the schema of 2.1 rejects `numNodes` together with it, so the run has
one node unless the TrainJob sets the number.

Elastic PyTorchJobs of `kubeflow.org/v1` are not affected: there elasticPolicy works.

Remove it, and write `numNodes`. A failed pod is restarted by its Job. For restarts by torchrun, within the pods, pass
`--max-restarts`, `--rdzv-backend=c10d` and `--rdzv-endpoint=$(PET_MASTER_ADDR):29400`, and set
`TORCH_DISABLE_SHARE_RDZV_TCP_STORE` to `"1"` (TD013).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Run


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
    """Report an elasticPolicy in a runtime."""
    if run.kind in RUNTIMES and mapping(run.spec, "mlPolicy", "torch").get("elasticPolicy") is not None:
        yield Problem(
            run.at.child("spec", "mlPolicy", "torch", "elasticPolicy").key(),
            "elasticPolicy has no effect: no release of Kubeflow Trainer reads it",
            "remove it and write mlPolicy.numNodes",
        )
