"""Labels and annotations that schedulers and controllers read, and the place where each looks for them.

Sources: kubernetes-sigs/kueue v0.19.2 pkg/controller/constants and apis/kueue/v1beta2; kubernetes-sigs/jobset v0.12.0
api/jobset/v1alpha2/jobset_types.go (ExclusiveKey: metadata of the JobSet or of a replicated job's template);
kubernetes-sigs/lws api/leaderworkerset/v1 (ExclusiveKeyAnnotationKey); kai-scheduler/KAI-Scheduler
pkg/podgrouper/podgrouper/plugins/defaultgrouper (CalcPodGroupQueue: labels of the owner or the pod);
kubernetes/autoscaler cluster-autoscaler/utils/drain (PodSafeToEvictKey); karpenter.sh/docs/concepts/disruption;
ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/constant.go; cloud.google.com/kubernetes-engine/docs:
networking.gke.io/interfaces, gke-gcsfuse/volumes.
"""

from __future__ import annotations

from trainyard.startup import NamedTuple

LABEL, ANNOTATION = "labels", "annotations"
# The annotation with which Volcano puts a pod into a PodGroup.
GROUP = "scheduling.k8s.io/group-name"


class Key(NamedTuple):
    """A key: `field` is the part of the metadata, `reader` who reads it, and `place` where.

    `place` is "pod" for the pods alone, "object" for the object alone, and "both" if either does.
    """

    name: str
    field: str
    reader: str
    place: str


KEYS = (
    Key("kueue.x-k8s.io/queue-name", LABEL, "Kueue", "both"),
    Key("kueue.x-k8s.io/priority-class", LABEL, "Kueue", "both"),
    Key("kueue.x-k8s.io/pod-group-total-count", ANNOTATION, "Kueue", "both"),
    Key("kueue.x-k8s.io/podset-required-topology", ANNOTATION, "Kueue", "pod"),
    Key("kueue.x-k8s.io/podset-preferred-topology", ANNOTATION, "Kueue", "pod"),
    Key("kueue.x-k8s.io/podset-unconstrained-topology", ANNOTATION, "Kueue", "pod"),
    Key("alpha.jobset.sigs.k8s.io/exclusive-topology", ANNOTATION, "JobSet", "object"),
    Key("leaderworkerset.sigs.k8s.io/exclusive-topology", ANNOTATION, "LeaderWorkerSet", "object"),
    Key("kai.scheduler/queue", LABEL, "KAI", "both"),
    Key("ray.io/overwrite-container-cmd", ANNOTATION, "KubeRay", "both"),
    Key("cluster-autoscaler.kubernetes.io/safe-to-evict", ANNOTATION, "the cluster autoscaler", "pod"),
    Key("karpenter.sh/do-not-disrupt", ANNOTATION, "Karpenter", "pod"),
    Key("gke-gcsfuse/volumes", ANNOTATION, "the webhook of Cloud Storage FUSE", "pod"),
    Key("networking.gke.io/interfaces", ANNOTATION, "GKE", "pod"),
    Key("networking.gke.io/default-interface", ANNOTATION, "GKE", "pod"),
)
BY_NAME = {key.name: key for key in KEYS}
# Kinds that Kueue queues by the label of the object: its integration of pods leaves their pods alone.
QUEUED_AS_A_WHOLE = (
    *("Job", "JobSet", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "TrainJob"),
    *("RayJob", "RayCluster", "AppWrapper"),
)
# Keys that their readers no longer know, with the key of today, and the scheduler of the pods that it concerns, if the
# readers are many. Karpenter: aws/karpenter-provider-aws website/content/en/docs/upgrading/v1-migration.md.
FORMER = {
    "runai/queue": ("kai.scheduler/queue", "kai-scheduler"),
    "karpenter.sh/do-not-evict": ("karpenter.sh/do-not-disrupt", ""),
    "karpenter.sh/do-not-consolidate": ("karpenter.sh/do-not-disrupt", ""),
}
# Misspelt words behind Kueue's own domain, which has many keys: kubernetes-sigs/kueue v0.19.2 pkg/controller/constants.
MISSPELT = {
    f"kueue.x-k8s.io/{word}": f"kueue.x-k8s.io/{meant}"
    for meant, words in (
        ("queue-name", "queue queuename queue_name queueName queue-names local-queue localqueue"),
        ("priority-class", "priorityclass priority_class priorityClass priority-class-name"),
    )
    for word in words.split()
}
# The words after the slash that are seldom those of another project, with the right name.
BY_WORD = {
    word: BY_NAME[name]
    for word, name in (
        ("queue-name", "kueue.x-k8s.io/queue-name"),
        ("podset-required-topology", "kueue.x-k8s.io/podset-required-topology"),
        ("podset-preferred-topology", "kueue.x-k8s.io/podset-preferred-topology"),
        ("safe-to-evict", "cluster-autoscaler.kubernetes.io/safe-to-evict"),
        ("do-not-disrupt", "karpenter.sh/do-not-disrupt"),
        ("overwrite-container-cmd", "ray.io/overwrite-container-cmd"),
    )
}
# Files with any of these may have a fault in such a key.
NEEDS = (
    "kueue", "jobset.sigs", "leaderworkerset.sigs", "kai.scheduler/queue", "runai/queue", "overwrite-container-cmd",
    "safe-to-evict", "do-not-evict", "do-not-consolidate",
    "do-not-disrupt", "gke-gcsfuse/volumes", "networking.gke.io/",
)  # fmt: skip
