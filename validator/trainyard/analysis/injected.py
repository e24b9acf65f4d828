"""Variables that operators add to the containers of a job, so that `$(NAME)` may refer to them.

Source: kubeflow/training-operator v1.9.3 pkg/controller.v1/{pytorch,tensorflow,xgboost,paddlepaddle,jax,mpi};
kubeflow/mpi-operator v0.7.0 pkg/controller/mpi_job_controller.go; kubeflow/trainer v2.1.0 pkg/constants/constants.go;
Kubernetes documentation, "Indexed Job for Parallel Processing with Static Work Assignment".
"""

from __future__ import annotations

from typing import NamedTuple

from validator.aspects.torchrun import appended
from validator.model import Run

_BY_KIND = {
    "XGBoostJob": ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_ADDRS", "WORKER_PORT"),
    "JAXJob": ("COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"),
    "TFJob": ("TF_CONFIG",),
    "PaddleJob": ("POD_IP_DUMMY",),
    "MPIJob": ("TARGET_DIR", "NAMESPACE", "K_MPI_JOB_ROLE"),
}
# Families of names, where releases differ in which of them they set.
_PREFIXES = {
    "PaddleJob": ("PADDLE_",),
    "MPIJob": ("OMPI_", "PRTE_", "I_MPI_", "HYDRA_", "NVIDIA_", "MPI_"),
    "TrainJob": (
        "PET_",
        "OMPI_",
        "PRTE_",
        "JAX_",
        "XGB",
        "DMLC_",
        "FLUX_",
        "TRAINJOB_",
        "TRAINER_",
        "KUBEFLOW_",
        "TORCHTUNE_",
    ),
}


class Injected(NamedTuple):
    """Names of variables, and beginnings of names."""

    names: frozenset[str]
    prefixes: tuple[str, ...]


def injected(run: Run | None) -> Injected:
    """What the operator of a run's kind sets beside the container's own `env`."""
    if run is None:
        return Injected(frozenset(), ())
    names = {"PYTHONUNBUFFERED", "JOB_COMPLETION_INDEX", *_BY_KIND.get(run.kind, ()), *appended(run)}
    # Runtimes are made for TrainJobs, which bring the trainer's variables.
    kind = "TrainJob" if run.kind in ("TrainingRuntime", "ClusterTrainingRuntime") else run.kind
    return Injected(frozenset(names), ("JOBSET_", *_PREFIXES.get(kind, ())))
