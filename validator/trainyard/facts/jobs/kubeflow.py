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
# The container that trains, in the pods of each kind.
MAIN_CONTAINERS = {
    **{kind: container for kind, (_, container) in REPLICA_FIELDS.items()},
    "TrainJob": STEP_CONTAINERS["trainer"],
}
# The gang schedulers whose PodGroups the training operator and Trainer create, as charts/kubeflow-trainer calls them:
# with the API version of the PodGroup, by its group, and by the key of a runtime's podGroupPolicy.
POD_GROUP_VERSIONS = {"volcano": "scheduling.volcano.sh/v1beta1", "scheduler-plugins": "scheduling.x-k8s.io/v1alpha1"}
POD_GROUPS = {version.partition("/")[0]: scheduler for scheduler, version in POD_GROUP_VERSIONS.items()}
POD_GROUP_POLICIES = {"volcano": "volcano", "coscheduling": "scheduler-plugins"}


def default_restart_policy(kind: str, api_version: str, role: str) -> str:
    """Returns the restart policy of a role's pods in a job that names none.

    Source: kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1, the defaults of each kind;
    kubeflow/mpi-operator v0.8.2 pkg/apis/kubeflow/v2beta1/default.go; kubernetes-sigs/jobset v0.12.0
    pkg/webhooks/jobset_webhook.go.
    """
    if kind == "MPIJob" and api_version.endswith("v2beta1"):
        return "OnFailure" if role == "Launcher" else "Never"
    return "OnFailure" if kind in ("PyTorchJob", "PaddleJob", "TrainJob", "JobSet") else "Never"
