"""Requirements of the Kubeflow operators on their jobs.

Source: kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go (RunPolicy) and pytorch_defaults.go
(setElasticPolicy); kubeflow/trainer v2.1.0 pkg/constants/constants.go.
"""

from __future__ import annotations

RUN_POLICY = (
    "cleanPodPolicy",
    "ttlSecondsAfterFinished",
    "activeDeadlineSeconds",
    "backoffLimit",
    "schedulingPolicy",
    "suspend",
    "managedBy",
)
# The kinds whose reconciler creates a Service for each pod. MPIJob of the same API reaches its pods through kubectl.
WITH_SERVICES = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
# The replicas field of each kind of kubeflow.org, and the container that the operator looks for.
REPLICA_FIELDS = {
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch"),
    "TFJob": ("tfReplicaSpecs", "tensorflow"),
    "MPIJob": ("mpiReplicaSpecs", "mpi"),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost"),
    "PaddleJob": ("paddleReplicaSpecs", "paddle"),
    "JAXJob": ("jaxReplicaSpecs", "jax"),
}
# The kinds of runs, and those that charts/training-job renders.
JOB_KINDS = (*REPLICA_FIELDS, "TrainJob", "JobSet", "Job", *RUNTIMES)
CHART_KINDS = (*REPLICA_FIELDS, "TrainJob")
SUPPORTING_ROLES = ("Launcher", "Evaluator", "dataset-initializer", "model-initializer")
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
# The container that the trainer modifies in the replicated job of each step.
STEP_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
