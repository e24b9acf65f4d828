"""Differences between a job and the release of its values that are meant, each with its reason."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

NODE = r"(Master|Worker|Chief|PS|Evaluator|Launcher|Node)"


class Meant(NamedTuple):
    """Differences in facts of a name.

    `added` are the values that the chart adds, None for any; `lacks` is true if the job must lack the fact.
    """

    name: str
    reason: str
    added: tuple[Any, ...] | None = None
    lacks: bool = True
    kinds: tuple[str, ...] = ()


EMPTY = '[{"emptyDir": {}}, {}]'
# For every file.
MEANT = (
    Meant(r"job\.annotation\.trainyard/.*", "records by which the chart refuses changes of a running job"),
    Meant(r"job\.label\.(app\.kubernetes\.io/.*|helm\.sh/chart)", "Helm's labels", lacks=False),
    Meant(r"job\.label\.trainer\.kubeflow\.org/webhook-validation", "the runtime is as new as the TrainJob"),
    Meant(rf"{NODE}\.label\.app\.kubernetes\.io/(name|instance)", "Helm's labels", lacks=False),
    Meant(
        rf"{NODE}\.field\.terminationMessagePolicy", "the last lines of a log in the status", ("FallbackToLogsOnError",)
    ),
    Meant(rf"{NODE}\.annotation\.sidecar\.istio\.io/inject", "a sidecar would keep the pod alive", ("false",)),
    Meant(
        rf"{NODE}\.annotation\.(karpenter\.sh/do-not-disrupt|cluster-autoscaler\.kubernetes\.io/safe-to-evict)",
        "no autoscaler moves a run with accelerators",
        ("true", "false"),
    ),
    Meant(rf"{NODE}\.mount\./(tmp|checkpoints|unused-checkpoints)", "an empty folder", (EMPTY,)),
    Meant(rf"{NODE}\.mount\./dev/shm", "memory in place of 64 MiB, of which the job says nothing"),
    Meant(rf"{NODE}\.pod\.enableServiceLinks", "no variables of other Services", (False,)),
    Meant(rf"{NODE}\.pod\.shareProcessNamespace", "torchrun is not process 1, and gets SIGTERM", (True,)),
    Meant(rf"{NODE}\.pod\.automountServiceAccountToken", "no token without a ServiceAccount", (False,)),
    Meant(rf"{NODE}\.pod\.terminationGracePeriodSeconds", "time to save a checkpoint", (60,)),
    Meant(rf"{NODE}\.annotation\.kueue\.x-k8s\.io/podset-group-name", "Master and Workers in one domain"),
    Meant(
        rf"{NODE}\.port\.\d+",
        "the port of the rendezvous, which the operator adds",
        ("pytorchjob-port", "torchrun", "tfjob-port", "jaxjob-port", "master", "xgboostjob-port"),
    ),
    Meant(rf"{NODE}\.env\.OMP_NUM_THREADS", "torchrun sets the same for several processes", ("1",)),
    Meant(
        r"Worker\.env\.TORCH_DISABLE_SHARE_RDZV_TCP_STORE",
        "a new store for each round of Workers alone",
        ("1",),
        kinds=("PyTorchJob",),
    ),
    Meant(r"policy\.backoffLimit", "an end of the restarts, of which the job says nothing"),
    Meant(r"processes", "the job does not say; nothing of the chart starts them"),
    Meant(r"elastic\.rdzv(Id|Conf)", "the chart's timeouts, where the job has those of torchrun"),
    Meant(r"spec\.(runLauncherAsWorker|mainContainer)", "a default, written out", (False, "mpi")),
    Meant(r"Worker\.restartPolicy", "workers with sshd restart", ("OnFailure",), lacks=False, kinds=("MPIJob",)),
    Meant(
        r"Launcher\.env\.(OMPI_MCA_btl_vader_single_copy_mechanism|I_MPI_HYDRA_IFACE|TRAINYARD_LAUNCHER_IP)",
        "the chart's variables for mpirun",
    ),
    Meant(r"(Worker|Launcher)\.security\.runAsUser", "the image's user must be root for its ssh keys", (0,)),
    Meant(r"Worker\.security\.capabilities", "capabilities that sshd needs", lacks=False, kinds=("MPIJob",)),
    Meant(
        r"Launcher\.(pod|label|annotation|mount|security)\..*",
        "all pods of an MPIJob have one template",
        kinds=("MPIJob",),
    ),
    Meant(r"(Worker|Launcher)\.env\..*", "all pods of an MPIJob have the same variables", kinds=("MPIJob",)),
    Meant(r"Launcher\.mpirun\.variables", "mpirun passes on all of env", lacks=False, kinds=("MPIJob",)),
)


def reason(kind: str, name: str, original: Any, converted: Any, more: tuple[Meant, ...] = ()) -> str:
    """Returns the reason of a difference that is meant for every file; empty if it is not."""
    for one in (*MEANT, *more):
        if one.kinds and kind not in one.kinds:
            continue
        if not re.fullmatch(one.name, name) or (one.lacks and original is not None):
            continue
        if one.added is None or converted in one.added:
            return one.reason
    return ""


# The files of the corpus with other differences, each fact with its reason. Their values tell each one in a comment.
_JOB_SET = "a TrainJob's JobSet is the chart's, with one group of pods"
_HOST = "pods have other names in a TrainJob"
_MPIRUN = "the launcher runs another program than one mpirun"
_LAUNCHER = {f"Launcher.{fact}": _MPIRUN for fact in ("words", "mpirun.program", "mpirun.processes")}
_ETCD = "the rendezvous of the chart is at the first worker"
_RUNTIME = "the runtime is not among the files, so its image is not known"
_ONE_POLICY = "the chart has one restart policy for all roles"
REMAINING: dict[str, dict[str, str]] = {
    "jobset-driver-workers": {
        "Node.torchrun.host": _HOST, "Node.torchrun.nnodes": "the judge adds up all groups", "nodes": _JOB_SET,
        "policy.failure": _JOB_SET, "policy.success": _JOB_SET,
    },
    "jobset-failure-policy": {"nodes": _JOB_SET, "policy.failure": _JOB_SET},
    "jobset-gke-a3ultra": {"Node.words": _HOST},
    "jobset-gke-tcpxo": {
        "Node.words": _HOST, "Node.container.tcpxo-daemon": "the name belongs to a fabric profile",
        "Node.container.own-tcpxo-daemon": "its new name",
    },
    "jobset-kueue-cpu": {"name": "the API server completes generateName, and a release has a name"},
    "jobset-pytorch": {"policy.failure": _JOB_SET},
    "jobset-success-policy": {"nodes": _JOB_SET, "policy.success": _JOB_SET, "spec.startupPolicy": _JOB_SET},
    "jobset-tpu": {"policy.failure": _JOB_SET},
    "mpijob-v2-deepspeed": _LAUNCHER,
    "mpijob-v2-launcher-as-worker": _LAUNCHER,
    "mpijob-v2-nccl-tests": {
        **_LAUNCHER, "Launcher.env.NCCL_DEBUG": _MPIRUN, "Launcher.env.NCCL_IB_HCA": _MPIRUN,
    },
    "paddlejob-collective": {
        "Worker.port.37777": "the chart declares the operator's default",
        "Worker.words": "options of Paddle's launcher",
    },
    "paddlejob-elastic": {
        "Worker.words": "options of Paddle's launcher", "elastic.maxReplicas": "no elastic PaddleJob",
        "elastic.maxRestarts": "no elastic PaddleJob", "elastic.minReplicas": "no elastic PaddleJob",
    },
    "pytorchjob-eks-fsdp-etcd": {f"elastic.rdzv{field}": _ETCD for field in ("Backend", "Host", "Port")},
    "pytorchjob-elastic": {"elastic.rdzvPort": "the operator takes it from the declared port, torchrun.port"},
    "pytorchjob-etcd-rendezvous": {f"elastic.rdzv{field}": _ETCD for field in ("Backend", "Host", "Port")},
    "tfjob-estimator-gpu": {
        "PS.limit.cpu": "limits, or parameter servers would have those of the nodes", "PS.limit.memory": "the same",
        "PS.pod.tolerations": "the chart has one placement", "policy.success": "all Workers, and not the first one",
    },
    "tfjob-multi-worker-mirrored": {"policy.success": "all Workers, and not the first one"},
    "tfjob-parameter-server": {
        "Evaluator.restartPolicy": _ONE_POLICY, "PS.restartPolicy": _ONE_POLICY,
        "policy.scheduling.minAvailable": "the job does not name its scheduler",
        "spec.enableDynamicWorker": "the chart has no value",
    },
    "trainjob-inline-program": {"Node.image": _RUNTIME, "Node.pull": _RUNTIME},
    "trainjob-openmpi-mounts": {"Node.image": _RUNTIME, "Node.pull": _RUNTIME, "name": "generateName"},
    "trainjob-runtime-patches": {"Node.image": _RUNTIME, "Node.pull": _RUNTIME},
    "trainjob-volcano": {"Node.pod.schedulerName": "the chart names the scheduler of the PodGroup"},
    "xgboostjob-iris": {
        "Master.port.9991": "the chart declares the operator's default", "Master.restartPolicy": _ONE_POLICY,
        "Worker.port.9991": "the chart declares the operator's default",
    },
}  # fmt: skip
# Facts that the values keep in another form.
WITHOUT_NOTE = {"Node.pod.schedulerName", "elastic.rdzvPort"}
# Jobs that are refused, with a word of the message.
REFUSED = {
    "experiment-katib-mpijob": "has no name",
    "trainjob-deepspeed-runtime": "its runtime is for mpi",
    "trainjob-mpi-runtime": "its runtime is for mpi",
}

# Differences that a move from PyTorchJob to TrainJob makes, beside those above.
MOVED = (
    Meant(r"policy\.cleanPodPolicy", "pods that still run end with a TrainJob", lacks=False),
    Meant(r"policy\.(group|pod-failure)", "the TrainJob's form of schedulingPolicy, or of ExitCode"),
    Meant(r"Node\.port\.\d+", "the port's name", ("torchrun",), lacks=False),
    Meant(r"policy\.scheduling\..*", "the TrainJob has a podGroupPolicy", lacks=False),
    Meant(r"Node\.(torchrun\.host|words|env\.RDZV_HOST)", _HOST, lacks=False),
    Meant(r"Node\.restartPolicy", "ExitCode is the Job's podFailurePolicy", ("Never",), lacks=False),
)
