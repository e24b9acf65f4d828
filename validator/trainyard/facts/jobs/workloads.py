"""Kinds of jobs beside those of Kubeflow, JobSet and Kubernetes: their API groups, names and variables.

Sources: volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs (validate, mutate), pkg/controllers/job (createJobPod,
plugins/factory.go, plugins/svc, plugins/env, plugins/distributed-framework/pytorch) and pkg/apis/bus/v1alpha1 of
volcano-sh/apis; kubernetes-sigs/lws v0.10.0 api/leaderworkerset/v1/leaderworkerset_types.go and
pkg/utils/pod/pod_utils.go (AddLWSVariables); ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1,
controllers/ray/utils/validation.go and controllers/ray/common/pod.go (BuildPod); aws/sagemaker-hyperpod-cli
src/sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py; volcano-sh/kthena
pkg/model-serving-controller/utils/utils.go (GenerateEntryPod, GenerateWorkerPod, createCommonEnvVars);
intelligent-machine-learning/dlrover dlrover/python/master/scaler/pod_scaler.py (PodScaler: pods are made from the
templates).
"""

from __future__ import annotations

VOLCANO = "batch.volcano.sh"
LEADER_WORKER = "leaderworkerset.x-k8s.io"
RAY = "ray.io"
HYPERPOD = "sagemaker.amazonaws.com"
MODEL_SERVING = "workload.serving.volcano.sh"
ELASTIC_JOB = "elastic.iml.github.io"

# The kinds of each API group.
GROUPS = {
    VOLCANO: ("Job",),
    LEADER_WORKER: ("LeaderWorkerSet",),
    RAY: ("RayCluster", "RayJob", "RayService"),
    HYPERPOD: ("HyperPodPyTorchJob",),
    MODEL_SERVING: ("ModelServing",),
    ELASTIC_JOB: ("ElasticJob",),
}
# Kinds of Kubernetes whose spec gives the number of pods. They are jobs if their pods start a launcher.
PLAIN = ("Pod", "Deployment", "StatefulSet", "ReplicaSet", "CronJob")

# Programs and parts of image names of inference servers. A group of pods with one of these does not train.
SERVERS = (
    "vllm",
    "sglang",
    "trtllm",
    "tensorrt-llm",
    "tritonserver",
    "text-generation-inference",
    "lmdeploy",
    "dynamo",
)

# Volcano's plugins, and the variables that they add to every container of a job.
VOLCANO_PLUGINS = ("ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray")
# The options of each plugin in any current release; volcano-sh/volcano ed72c7c pkg/controllers/job/plugins: addFlags.
VOLCANO_PLUGIN_OPTIONS = {
    "ssh": ("ssh-key-file-path", "ssh-private-key", "ssh-public-key", "ssh-port"),
    "svc": ("publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"),
    "pytorch": ("master", "worker", "port", "wait-master-enabled", "wait-master-timeout", "wait-master-image"),
    "tensorflow": ("ps", "worker", "chief", "evaluator", "port"),
    "mpi": ("master", "worker", "port"),
    "ray": ("head", "headContainer", "worker", "workerContainer", "port", "dashboardPort", "clientPort"),
}
# These need `svc`, which the webhook adds.
VOLCANO_WITH_SERVICE = ("svc", "tensorflow", "mpi", "pytorch", "ray")
VOLCANO_INDEX = ("VC_TASK_INDEX", "VK_TASK_INDEX")
VOLCANO_PYTORCH = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
VOLCANO_EVENTS = (
    *("*", "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"),
)
VOLCANO_ACTIONS = (
    *("AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition"),
    *("TerminateJob", "CompleteJob", "ResumeJob"),
)
# Variables of each pod of a LeaderWorkerSet.
LEADER_WORKER_VARIABLES = ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
# Variables of each pod of a ModelServing.
MODEL_SERVING_VARIABLES = ("GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX")
LEADER_WORKER_RESTARTS = ("RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None", "Default")

# The longest names that KubeRay accepts since v1.4; it derives names of pods and services from them.
# The label by which a RayJob finds its cluster.
RAY_CLUSTER = "ray.io/cluster"
RAY_NAMES = {"RayCluster": 53, "RayJob": 47, "RayService": 47}


def group_of(api_version: str) -> str:
    """Returns the group of an API version, empty for that of Kubernetes' core."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def is_workload(api_version: str, kind: str) -> bool:
    """True for a kind of this module whose roles are known."""
    return kind in GROUPS.get(group_of(api_version), ())
