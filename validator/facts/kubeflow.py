"""What the operators of Kubeflow ask of their jobs.

Source: kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go (RunPolicy) and pytorch_defaults.go
(setElasticPolicy); kubeflow/trainer v2.1.0 pkg/constants/constants.go.
"""

from __future__ import annotations

from typing import Any

from validator.fields import mapping, whole
from validator.model import Run

RUN_POLICY = (
    "cleanPodPolicy",
    "ttlSecondsAfterFinished",
    "activeDeadlineSeconds",
    "backoffLimit",
    "schedulingPolicy",
    "suspend",
    "managedBy",
)
# The kinds whose reconciler creates a Service for each pod; MPIJob of the same API finds its pods through kubectl.
WITH_SERVICES = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
# Which container the trainer changes in the replicated job of each step.
STEP_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}


def elastic_range(run: Run) -> tuple[int | None, int | None]:
    """The bounds that the operator gives to torchrun: one that is missing becomes the other, or the Workers' number."""
    policy: dict[str, Any] = run.elastic or {}
    worker = run.role("Worker")
    low, high = whole(policy, "minReplicas"), whole(policy, "maxReplicas")
    if low is None and high is None:
        low = high = worker.replicas if worker is not None else None
    return (low if low is not None else high), (high if high is not None else low)


def metadata_of(run: Run) -> dict[str, Any]:
    """The metadata of the object that a run was read from."""
    tree = run.at.document.tree
    for step in run.at.path:
        tree = tree[step]
    return mapping(tree, "metadata")


def is_mpi_operator(run: Run) -> bool:
    """Whether the run is an MPIJob of the mpi-operator, which left the training-operator's API behind."""
    return run.kind == "MPIJob" and run.api_version == "kubeflow.org/v2beta1"


def before(version: tuple[int, ...] | None, release: tuple[int, int]) -> bool:
    """Whether the target's version is known and older than this release."""
    return version is not None and version[:2] < release


def since(version: tuple[int, ...] | None, release: tuple[int, int]) -> bool:
    """Whether the target's version is known and this release or a newer one."""
    return version is not None and version[:2] >= release
