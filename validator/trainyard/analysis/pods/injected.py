"""Variables that operators add to the containers of a job, so that `$(NAME)` may refer to them.

Source: kubeflow/training-operator v1.9.3 pkg/controller.v1/{pytorch,tensorflow,xgboost,paddlepaddle,jax,mpi};
kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go; kubeflow/trainer v2.1.0 pkg/constants/constants.go;
Kubernetes documentation, "Indexed Job for Parallel Processing with Static Work Assignment".
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.analysis.jobs.workloads import controller_variables
from trainyard.analysis.launchers.torchrun import operator_variables
from trainyard.model.run import Run

_BY_KIND = {
    "XGBoostJob": ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_ADDRS", "WORKER_PORT"),
    "JAXJob": ("COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"),
    "TFJob": ("TF_CONFIG",),
    "PaddleJob": ("POD_IP_DUMMY",),
    "MPIJob": ("TARGET_DIR", "NAMESPACE", "K_MPI_JOB_ROLE"),
}
# Name prefixes of variables that differ between releases.
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
    """Names of variables, and name prefixes."""

    names: frozenset[str]
    prefixes: tuple[str, ...]

    def has(self, name: str) -> bool:
        """True if a variable of this name is, or may be, among them."""
        return name in self.names or name.startswith(self.prefixes)


def injected(run: Run | None) -> Injected:
    """Returns the variables that the operator sets for this kind of run, beside the container's own `env`."""
    if run is None:
        return Injected(frozenset(), ())
    names = {"PYTHONUNBUFFERED", "JOB_COMPLETION_INDEX", *_BY_KIND.get(run.kind, ()), *operator_variables(run)}
    # Runtimes are made for TrainJobs, so the trainer's variables are present.
    kind = "TrainJob" if run.kind in ("TrainingRuntime", "ClusterTrainingRuntime") else run.kind
    own, prefixes = controller_variables(run)
    return Injected(frozenset(names) | own, ("JOBSET_", *_PREFIXES.get(kind, ()), *prefixes))
