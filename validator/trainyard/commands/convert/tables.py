"""Facts of the conversion as data: where a field goes, and what an operator fills in.

Sources: kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/*_types.go (ports) and
pkg/controller.v1 (variables); kubeflow/mpi-operator v0.8.2 pkg/apis/kubeflow/v2beta1/default.go; kubernetes-sigs/jobset
v0.12.0 pkg/webhooks/jobset_webhook.go; `training-job.kinds` of charts/training-job.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.facts.jobs.kueue import QUEUE, SLICE_REQUIRED, SLICE_SIZE

API_GROUPS = {
    **dict.fromkeys(("PyTorchJob", "MPIJob", "TFJob", "JAXJob", "PaddleJob", "XGBoostJob"), "kubeflow.org/"),
    "TrainJob": "trainer.kubeflow.org/",
    "JobSet": "jobset.x-k8s.io/",
}
PYTORCH = ("PyTorchJob", "TrainJob")
V2 = ("TrainJob", "JobSet")


class DeclaredPort(NamedTuple):
    """The port that the operator declares: its name and its number."""

    name: str
    number: int | None


DECLARED_PORTS = {
    "PyTorchJob": DeclaredPort("pytorchjob-port", None),
    "TrainJob": DeclaredPort("torchrun", None),
    "TFJob": DeclaredPort("tfjob-port", 2222),
    "JAXJob": DeclaredPort("jaxjob-port", 6666),
    "PaddleJob": DeclaredPort("master", 36543),
    "XGBoostJob": DeclaredPort("xgboostjob-port", 9999),
    "MPIJob": DeclaredPort("", None),
}
PORTS = {name for port in DECLARED_PORTS.values() if (name := port.name)}

_TORCH = (
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "PET_MASTER_ADDR", "PET_MASTER_PORT",
    "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE",
)  # fmt: skip
_MPI = (
    "K_MPI_JOB_ROLE", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames",
    "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_plm_rsh_args", "I_MPI_HYDRA_HOST_FILE",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST", "HYDRA_HOST_FILE", "HYDRA_LAUNCHER_EXTRA_ARGS",
)  # fmt: skip
# Variables that the operator or the chart sets in every pod: the chart refuses them as values.
OWNED: dict[str, tuple[str, ...]] = {
    "PyTorchJob": _TORCH,
    "TrainJob": _TORCH,
    "TFJob": ("TF_CONFIG",),
    "JAXJob": ("COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID", "PYTHONUNBUFFERED"),
    "PaddleJob": (
        "PADDLE_JOB_ID", "PADDLE_MASTER", "PADDLE_NNODES", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM", "POD_IP_DUMMY",
        "PYTHONUNBUFFERED",
    ),
    "XGBoostJob": (
        "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "WORKER_ADDRS", "WORKER_PORT",
    ),
    "MPIJob": _MPI,
}  # fmt: skip
ELASTIC = ("PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND", "PET_RDZV_ID", "PET_RDZV_CONF", "PET_MAX_RESTARTS")

# Fields of a pod that a value of the chart takes as they are.
POD_FIELDS = {
    "nodeSelector": "placement.nodeSelector",
    "tolerations": "placement.tolerations",
    "topologySpreadConstraints": "placement.topologySpread",
    "priorityClassName": "placement.priorityClassName",
    "runtimeClassName": "placement.runtimeClassName",
    "serviceAccountName": "serviceAccount.name",
}
# Fields of a pod with the content that changes nothing: the default of Kubernetes, or what the chart writes.
POD_DEFAULTS: dict[str, tuple[object, ...]] = {
    "serviceAccount": (),
    "schedulerName": ("default-scheduler",),
    "dnsPolicy": ("ClusterFirst",),
    "enableServiceLinks": (False,),
    "automountServiceAccountToken": (False,),
    "hostNetwork": (False,),
    "hostIPC": (False,),
    "hostPID": (False,),
    "shareProcessNamespace": (True,),
}
CONTAINER_DEFAULTS: dict[str, tuple[object, ...]] = {
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
}
# Fields of the job's runPolicy that the chart has under the same name.
POLICY_FIELDS = ("activeDeadlineSeconds", "ttlSecondsAfterFinished", "managedBy")

# Annotations and labels of Kueue, with their values.
QUEUE_LABELS = {
    QUEUE: "scheduling.queue.name",
    "kueue.x-k8s.io/priority-class": "scheduling.queue.priorityClassName",
}
SLICES = {
    SLICE_REQUIRED: "scheduling.queue.topology.sliceLevel",
    SLICE_SIZE: "scheduling.queue.topology.sliceSize",
}
# Prefixes of labels and annotations that a tool writes into an object: the next one writes its own.
WRITTEN_BY_TOOLS = (
    "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version", "app.kubernetes.io/part-of", "helm.sh/", "meta.helm.sh/", "trainyard/",
    "kubectl.kubernetes.io/last-applied-configuration", "trainer.kubeflow.org/webhook-validation",
)  # fmt: skip
GANG_SCHEDULERS = {"volcano": "volcano", "scheduler-plugins-scheduler": "scheduler-plugins"}
