"""Events of Kubernetes: scheduling, images, volumes, admission, networks, queues."""

from __future__ import annotations

from trainyard.doctor.cause import Cause, Level, Sign

_STARTED = Sign("Started container")
_PLACED = (Sign("Successfully assigned"), _STARTED)
_MANUAL = "kubernetes.io docs/"
# All nodes have the taint, or it is not the one of the control plane, which keeps every run away.
_TAINT = (
    r"(?:untolerated taint|had taint) \{(?!node-role\.kubernetes\.io/(?:control-plane|master))"
    r"|0/(\d+) nodes are available: \1 node\(s\) had (?:untolerated )?taint"
)

CAUSES = (
    Cause(
        name="unschedulable-resources",
        title="no node has the free resources that a pod requests",
        signs=(Sign("nodes are available", r"Insufficient [\w./-]+"),),
        resolved_by=_PLACED,
        hides=("unschedulable-affinity",),
        messages=(
            "FailedScheduling",
            "Insufficient nvidia.com/gpu",
            "Insufficient rdma/...",
        ),
        explanation="Other pods use the GPUs, a node has fewer than requested, or no device plugin offers them.",
        remedy="Compare the request with kubectl describe nodes (Allocatable, Allocated). Use fewer nodes, or a queue.",
        source="github.com/NVIDIA/k8s-device-plugin issue 585",
        rules=("gang-not-scheduled", "site-resource-not-offered", "rdma-resource-unknown"),
    ),
    Cause(
        name="unschedulable-taint",
        title="the nodes have a taint that the pod does not tolerate",
        signs=(Sign("nodes are available", _TAINT),),
        resolved_by=_PLACED,
        messages=("had untolerated taint",),
        explanation="GPU nodes are often tainted, so that only pods with a toleration run there.",
        remedy="Add the toleration of the taint in the message (`placement.tolerations`).",
        source="github.com/NVIDIA/k8s-device-plugin issue 421",
        rules=("gpu-pod-without-toleration",),
    ),
    Cause(
        name="unschedulable-affinity",
        title="no node fits the selector, affinity or spread of a pod",
        signs=(
            Sign("nodes are available", r"didn't match (?:Pod's node affinity|node selector|pod (?:anti-)?affinity)"),
            Sign("nodes are available", r"didn't (?:match pod topology spread|satisfy existing pods)"),
        ),
        resolved_by=_PLACED,
        messages=(
            "didn't match Pod's node affinity/selector",
            "didn't match pod anti-affinity rules",
            "didn't match pod topology spread constraints",
        ),
        explanation="A label is misspelt or absent on the nodes, or there are fewer nodes than pods to spread.",
        remedy="Compare `placement.nodeSelector` with kubectl get nodes --show-labels; relax `placement.spread`.",
        source=_MANUAL + "concepts/scheduling-eviction/assign-pod-node",
        rules=(
            "spread-pushes-apart-a-colocated-job",
            "site-queue-packs-pods",
        ),
    ),
    Cause(
        name="unschedulable-volume",
        title="a pod waits for its volume claim",
        signs=(
            Sign("unbound immediate PersistentVolumeClaims"),
            Sign("nodes are available", r"persistentvolumeclaim .* not found"),
        ),
        resolved_by=_PLACED,
        messages=(
            "unbound immediate PersistentVolumeClaims",
            'persistentvolumeclaim "..." not found',
        ),
        explanation="The claim is not bound: no class of its name, no access mode for several nodes, or no "
        "claim at all.",
        remedy="Read kubectl describe pvc; name a class that offers ReadWriteMany (`checkpoints.storageClassName`).",
        source="github.com/inveniosoftware/helm-invenio issue 95",
        rules=("reference-not-found", "claim-on-several-nodes"),
    ),
    Cause(
        name="image-pull",
        title="a node cannot pull the image",
        signs=(Sign("ImagePullBackOff"), Sign("ErrImagePull"), Sign("Failed to pull image"), Sign("InvalidImageName")),
        resolved_by=(_STARTED, Sign("Successfully pulled image")),
        explanation="The name or tag does not exist, the registry needs a Secret, or the node cannot reach it.",
        remedy="Correct `image.repository` and `image.tag`; add `image.pullSecrets`.",
        source=_MANUAL + "concepts/containers/images: ImagePullBackOff",
    ),
    Cause(
        name="volume-mount",
        title="a volume cannot be mounted",
        signs=(
            Sign("MountVolume", r"MountVolume\.\w+ failed"),
            Sign("Unable to attach or mount volumes"),
            Sign("FailedAttachVolume"),
        ),
        resolved_by=(_STARTED,),
        messages=(
            "MountVolume.SetUp failed",
            "Unable to attach or mount volumes",
            "FailedAttachVolume",
        ),
        explanation="A ConfigMap, Secret or claim of the volume is missing, the storage does not answer, or "
        "the volume is attached to another node.",
        remedy="Create the object that the event names; check the CSI driver; use ReadWriteMany on several nodes.",
        source=_MANUAL + "concepts/storage/volumes",
        rules=("reference-not-found", "claim-on-several-nodes"),
    ),
    Cause(
        name="volume-multi-attach",
        title="pods on several nodes need a volume that one node can have",
        signs=(Sign("Multi-Attach error for volume"),),
        resolved_by=(_STARTED, Sign("AttachVolume.Attach succeeded")),
        hides=("volume-mount",),
        explanation="The claim is ReadWriteOnce, and a pod on another node has the volume: a second rank, or the pod "
        "of "
        "a run before that has not ended.",
        remedy="Use a claim with ReadWriteMany (`checkpoints.storageClassName`); delete old pods that hold the volume.",
        source="github.com/kubernetes/kubernetes issue 96142",
        rules=("claim-on-several-nodes",),
    ),
    Cause(
        name="device-allocation-failed",
        title="the kubelet cannot allocate a device to the pod",
        signs=(
            Sign("UnexpectedAdmissionError"),
            Sign("Allocate failed due to"),
            Sign("Node didn't have enough resource"),
        ),
        messages=(
            "OutOfnvidia.com/gpu: Node didn't have enough resource",
            "UnexpectedAdmissionError",
            "Allocate failed due to device plugin ... rpc failed",
            "Allocate failed due to no healthy devices present",
        ),
        explanation="The scheduler chose the node, but its device plugin did not answer, or the GPUs are in use or "
        "unhealthy. Such a pod never starts.",
        remedy="Delete the pod, and read the log of the device plugin of this node. Drain the node if a GPU is lost.",
        source="github.com/kubernetes/kubernetes issue 97131",
    ),
    Cause(
        name="topology-affinity",
        title="the CPUs, memory and devices of the pod do not fit one NUMA node",
        signs=(Sign("TopologyAffinityError"), Sign("Topology Affinity Error"), Sign("Topology locality")),
        messages=(
            "TopologyAffinityError",
            "Resources cannot be allocated with Topology locality",
        ),
        explanation="The topology manager of the kubelet refuses pods that it cannot place on as few NUMA nodes as its "
        "policy demands. Such a pod never starts.",
        remedy="Request no more CPUs and memory than one NUMA node has free, or ask for the policy best-effort.",
        source="kubernetes.io docs/tasks/administer-cluster/topology-manager",
    ),
    Cause(
        name="object-invalid",
        title="the API server refuses an object as invalid",
        signs=(Sign("is invalid: ", r"\b[A-Z]\w+(?:\.[\w.-]+)? \\?\"[^\"\\]+\\?\" is invalid: "),),
        messages=('Job.batch "..." is invalid: spec.template...',),
        explanation="A field has a value that Kubernetes does not accept, so a controller cannot create the object.",
        remedy="Correct the field after the colon; `trainyard lint` checks manifests before they are applied.",
        source="github.com/kubeflow/trainer issue 2363",
    ),
    Cause(
        name="quota-exceeded",
        title="the quota of the namespace refuses a pod",
        signs=(Sign("exceeded quota:"),),
        explanation="The ResourceQuota allows less than the pods of the run request together.",
        remedy="Request less (kubectl describe quota shows what is left), or ask for a larger quota.",
        source=_MANUAL + "concepts/policy/resource-quotas",
        rules=("quota-below-job", "quota-needs-quantity"),
    ),
    Cause(
        name="webhook-refused",
        title="an admission webhook refused the object or did not answer",
        signs=(Sign("failed calling webhook"), Sign("admission webhook", r"denied the request")),
        messages=(
            "failed calling webhook",
            "admission webhook ... denied the request",
        ),
        explanation="`denied` gives the mistake in the object. `failed calling` means that the webhook's "
        "pods do not run.",
        remedy="Correct the field that the message names; or start the operator whose Service has no endpoints.",
        source=_MANUAL + "reference/access-authn-authz/extensible-admission-controllers",
        rules=("runtime-not-found",),
    ),
    Cause(
        name="pod-security",
        title="Pod Security refuses the pod",
        signs=(Sign("violates PodSecurity"),),
        unless=r"would violate",
        explanation="The namespace enforces a level that does not allow a field of the pod, such as IPC_LOCK.",
        remedy="Remove the field, or run in a namespace with the level that the fabric needs.",
        source=_MANUAL + "concepts/security/pod-security-standards",
    ),
    Cause(
        name="pod-evicted",
        title="the kubelet evicted a pod",
        signs=(
            Sign("Evicted", r"Reason:\s+Evicted|Evicted\s+pod/"),
            Sign("node was low on resource"),
            Sign("Usage of EmptyDir volume"),
            Sign("ephemeral local storage usage exceeds"),
        ),
        messages=(
            "Evicted",
            "node was low on resource",
            "Usage of EmptyDir volume ... exceeds the limit",
            "ephemeral local storage usage exceeds",
        ),
        explanation="The node was short of disk or memory, or a volume of the pod exceeded its limit.",
        remedy="Request ephemeral-storage, enlarge the emptyDir, or put data and caches on a volume "
        "(`scratch.enabled`).",
        source="github.com/kubernetes/kubernetes issue 91600",
        rules=("model-cache-on-small-volume",),
    ),
    Cause(
        name="network-attachment-missing",
        title="Multus does not find the network of a pod",
        signs=(Sign("cannot find a network-attachment-definition"),),
        resolved_by=(_STARTED,),
        hides=("pod-network-failed",),
        explanation="No NetworkAttachmentDefinition of this name is in the namespace that the annotation names.",
        remedy="Create it there, or write NAMESPACE/NAME in the annotation.",
        source="github.com/k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go",
        rules=("site-network-unknown", "reference-in-other-namespace"),
    ),
    Cause(
        name="runtime-class-missing",
        title="the node does not know the runtime of the pod",
        signs=(Sign("no runtime for", r"no runtime for .+ is configured"),),
        hides=("pod-network-failed",),
        resolved_by=(_STARTED,),
        messages=('no runtime for "nvidia" is configured',),
        explanation="The RuntimeClass of the pod, such as nvidia, has no entry in the configuration of containerd: the "
        "container toolkit is not installed on this node, or containerd was not restarted.",
        remedy="Install the NVIDIA container toolkit on the node (the GPU operator does so), and restart containerd.",
        source="github.com/NVIDIA/gpu-operator issue 730",
    ),
    Cause(
        name="pod-network-failed",
        title="the network of a pod cannot be set up",
        signs=(Sign("FailedCreatePodSandBox"), Sign("Failed to create pod sandbox")),
        resolved_by=(_STARTED,),
        confidence="medium",
        explanation="A CNI plugin is missing on the node, the pool of addresses or devices is used up, or "
        "Multus fails.",
        remedy="Read the end of the event: it names the plugin. Install it in /opt/cni/bin; check the IPAM pool.",
        source="github.com/k8snetworkplumbingwg/multus-cni issue 386",
        rules=(
            "sriov-count-network-mismatch",
            "multus-installed-twice",
            "nad-mtu-invalid",
        ),
    ),
    Cause(
        name="kueue-waiting",
        title="the run waits for quota of Kueue",
        signs=(
            Sign("couldn't assign flavors to pod set"),
            Sign("insufficient unused quota"),
            Sign("didn't fit in the remaining quota"),
        ),
        resolved_by=(Sign("Admitted by ClusterQueue"), Sign("Quota reserved in ClusterQueue")),
        explanation="Other runs use the quota; with `request > maximum capacity`, the queue can never admit the run.",
        remedy="Wait, or lower nodes or GPUs to what the ClusterQueue has (kubectl describe clusterqueue).",
        source="github.com/kubernetes-sigs/kueue issue 4134",
        rules=("site-queue-unknown", "site-quota-exceeded"),
    ),
    Cause(
        name="volcano-queue-full",
        title="the queue of Volcano has no room for the run",
        signs=(Sign("queue resource quota insufficient"),),
        resolved_by=_PLACED,
        explanation="The capability of the queue is used up, is below the request, or lacks a resource of the pods.",
        remedy="Compare minResources of the PodGroup with the queue (kubectl describe queue); wait, or lower the "
        "request.",
        source="github.com/volcano-sh/volcano issue 3220",
    ),
    Cause(
        name="pod-preempted",
        title="the scheduler removed a pod for one of higher priority",
        signs=(Sign("Preempted by "), Sign("PreemptionByScheduler")),
        explanation="A pod with a higher PriorityClass needed the place, and the others of the run lost this rank.",
        remedy="Resume from the last checkpoint; give the run a PriorityClass of its own "
        "(`placement.priorityClassName`), "
        "or a queue.",
        source="github.com/kubernetes/kubernetes pull request 114923",
    ),
    Cause(
        name="node-not-ready",
        title="a node became unreachable",
        signs=(Sign("NodeNotReady"), Sign("node.kubernetes.io/unreachable", r"TaintManagerEviction|deleted")),
        explanation="The kubelet of the node stopped reporting: the node crashed, rebooted or lost its network.",
        remedy="Read the kernel's log of the node; restart the run without it.",
        source=_MANUAL + "concepts/architecture/nodes",
    ),
    Cause(
        name="gang-incomplete",
        title="the pods of a run cannot be placed together",
        signs=(Sign("tasks in gang unschedulable"), Sign("pod group is not ready")),
        resolved_by=_PLACED,
        level=Level.CONSEQUENCE,
        confidence="medium",
        explanation="The scheduler starts all pods of the gang or none, and there is no place for one of them, or it "
        "does not exist yet.",
        remedy="Compare minMember with the number of pods and their requests with the free resources of the queue.",
        source="github.com/volcano-sh/volcano pull request 520",
        rules=("gang-not-scheduled",),
    ),
    Cause(
        name="entrypoint-not-found",
        title="the image does not have the command of the container",
        signs=(
            Sign("executable file not found in $PATH"),
            Sign("exec: ", r"(?:stat|fork/exec) \S+: no such file or directory"),
        ),
        messages=(
            "executable file not found in $PATH",
            "exec: ... no such file or directory",
        ),
        explanation="The first word of `command` is not a program of the image, or not on its PATH.",
        remedy="Correct the command or the image, for example `python -m torch.distributed.run` for `torchrun`.",
        source="github.com/NVIDIA/k8s-device-plugin issue 1081",
    ),
    Cause(
        name="config-object-missing",
        title="a ConfigMap or Secret that a container takes variables from is missing",
        signs=(
            Sign("CreateContainerConfigError"),
            Sign("Error: ", r"Error: (?:secrets?|configmaps?) \".+\" not found"),
        ),
        resolved_by=(_STARTED,),
        messages=(
            "CreateContainerConfigError",
            'Error: secret "..." not found',
        ),
        explanation="The object does not exist in the namespace of the pod, or has not the key.",
        remedy="Create the object that the event names, in the namespace of the run; check the key.",
        source=_MANUAL + "tasks/configure-pod-container/configure-pod-configmap",
        rules=("reference-not-found",),
    ),
    Cause(
        name="deadline-exceeded",
        title="the run took longer than its deadline",
        signs=(
            Sign("DeadlineExceeded", r"Reason:\s+DeadlineExceeded|(?:Normal|Warning)\s+DeadlineExceeded"),
            Sign("longer than the specified deadline"),
            Sign("was active longer than specified deadline"),
        ),
        explanation="activeDeadlineSeconds of the job or pod is over, and Kubernetes has ended its containers.",
        remedy="Raise the deadline, or resume from the last checkpoint.",
        source=_MANUAL + "concepts/workloads/controllers/job: job termination and cleanup",
    ),
    Cause(
        name="liveness-probe-failed",
        title="the kubelet restarted a container whose liveness probe failed",
        signs=(Sign("failed liveness probe, will be restarted"),),
        explanation="A rank that loads data, compiles or saves does not answer in time. Its restart ends the run.",
        remedy="Remove the liveness probe: the watchdogs of NCCL and of the trainer find a rank that hangs.",
        source=_MANUAL + "tasks/configure-pod-container/configure-liveness-readiness-startup-probes",
    ),
    Cause(
        name="crash-loop",
        title="a container fails each time it starts",
        signs=(Sign("CrashLoopBackOff"), Sign("Back-off restarting failed container")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The kubelet waits longer before each restart. The events do not tell why the program ends.",
        remedy="Read the log of the last attempt: kubectl logs --previous.",
        source=_MANUAL + "concepts/workloads/pods/pod-lifecycle",
    ),
    Cause(
        name="backoff-limit",
        title="the job used up its restarts",
        signs=(Sign("BackoffLimitExceeded"), Sign("reached the specified backoff limit")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Pods failed more often than backoffLimit allows. The reason is in the log of the first of them.",
        remedy="Correct the reason; allow 3 or more restarts for failures that pass.",
        source=_MANUAL + "concepts/workloads/controllers/job: pod backoff failure policy",
        rules=("backoff-limit-below-one-restart",),
    ),
)
