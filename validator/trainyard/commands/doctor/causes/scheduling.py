"""Events of schedulers and queues: why a pod has no node, or a run no quota."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_STARTED = Sign("Started container")
_PLACED = (Sign("Successfully assigned"), _STARTED)
# All nodes have the taint, or it is not the one of the control plane, which keeps every run away.
_TAINT = (
    r"(?:untolerated taint|had taint) \{(?!node-role\.kubernetes\.io/(?:control-plane|master)|node\.kubernetes\.io/)"
    r"|0/(\d+) nodes are available: \1 node\(s\) had (?:untolerated )?taint(?! \{node\.kubernetes\.io/)"
)

CAUSES = (
    Cause(
        name="unschedulable-resources",
        title="no node has the free resources that a pod requests",
        signs=(
            Sign("nodes are available", r"Insufficient [\w./-]+|Too many pods"),
            Sign("didn't trigger scale-up", r"Insufficient [\w./-]+|max node group size reached"),
            Sign("exceed limits for nodepool"),
        ),
        resolved_by=_PLACED,
        hides=("unschedulable-affinity",),
        messages=(
            "FailedScheduling",
            "Insufficient nvidia.com/gpu",
            "Insufficient rdma/...",
            "pod didn't trigger scale-up",
        ),
        explanation="Other pods use the GPUs, a node has fewer than requested, or no device plugin offers them.",
        remedy="Compare the request with kubectl describe nodes (Allocatable, Allocated). Use fewer nodes, or a queue.",
        source="github.com/NVIDIA/k8s-device-plugin issue 585",
        rules=("gang-not-scheduled", "site-resource-not-offered", "rdma-resource-unknown", "rdma-resource-misspelt"),
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
            Sign("nodes are available", r"had volume node affinity conflict"),
        ),
        resolved_by=_PLACED,
        messages=(
            "didn't match Pod's node affinity/selector",
            "didn't match pod anti-affinity rules",
            "didn't match pod topology spread constraints",
        ),
        explanation="A label is misspelt or absent on the nodes, or there are fewer nodes than pods to spread.",
        remedy="Compare `placement.nodeSelector` with kubectl get nodes --show-labels; relax `placement.spread`.",
        source="kubernetes.io docs/concepts/scheduling-eviction/assign-pod-node",
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
            Sign("persistentvolumeclaim", r"persistentvolumeclaim \"\S+\" (?:not found|is being deleted)"),
            Sign("no persistent volumes available for this claim"),
            Sign("find available persistent volumes to bind"),
            Sign("ProvisioningFailed"),
            Sign("failed to provision volume"),
        ),
        resolved_by=_PLACED,
        messages=(
            "unbound immediate PersistentVolumeClaims",
            'persistentvolumeclaim "..." not found',
            "no persistent volumes available for this claim",
            "ProvisioningFailed",
        ),
        explanation="The claim is not bound: no class of its name, no access mode for several nodes, or no "
        "claim at all.",
        remedy="Read kubectl describe pvc; name a class that offers ReadWriteMany (`checkpoints.storageClassName`).",
        source="github.com/inveniosoftware/helm-invenio issue 95",
        rules=("reference-not-found", "claim-on-several-nodes"),
    ),
    Cause(
        name="unschedulable-port",
        title="another pod has the host port of a pod on each node",
        signs=(Sign("nodes are available", r"didn't have free ports"),),
        resolved_by=_PLACED,
        messages=("didn't have free ports for the requested pod ports",),
        explanation="A node gives a host port, or the ports of a pod on its network, to one pod only.",
        remedy="Leave the host network, choose another port, or wait for the run that has it.",
        source="github.com/kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeports/node_ports.go",
        rules=("torchrun-port-shared-on-host",),
    ),
    Cause(
        name="unschedulable-claim",
        title="no node has the devices of a resource claim",
        signs=(
            Sign("cannot allocate all claims"),
            Sign("waiting for resource claim"),
            Sign("resourceclaim", r"resourceclaim \"[^\"]+\" not found"),
        ),
        resolved_by=_PLACED,
        messages=("cannot allocate all claims", "waiting for resource claim controller to create the resourceclaim"),
        explanation="Dynamic resource allocation finds no devices of the DeviceClass that are free, or no driver "
        "publishes them.",
        remedy="Compare kubectl get resourceslices with the selectors of the claim; check the driver of the devices.",
        source="github.com/kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go",
    ),
    Cause(
        name="kueue-waiting",
        title="the run waits for quota of Kueue",
        signs=(
            Sign("couldn't assign flavors to pod set"),
            Sign("insufficient unused quota"),
            Sign("didn't fit in the remaining quota"),
            Sign("insufficient quota for"),
            Sign("doesn't allow to fit", r"topology \"[^\"]+\" doesn't allow to fit"),
        ),
        resolved_by=(Sign("Admitted by ClusterQueue"), Sign("Quota reserved in ClusterQueue")),
        explanation="Other runs use the quota; with `request > maximum capacity`, the queue can never admit the run.",
        remedy="Wait, or lower nodes or GPUs to what the ClusterQueue has (kubectl describe clusterqueue).",
        source="github.com/kubernetes-sigs/kueue issue 4134",
        rules=("site-queue-unknown", "site-quota-exceeded"),
    ),
    Cause(
        name="kueue-queue-missing",
        title="Kueue has no usable queue for the run",
        signs=(
            Sign("doesn't exist", r"(?:LocalQueue|ClusterQueue) \S+ doesn't exist"),
            Sign("is inactive", r"(?:LocalQueue|ClusterQueue) \S+ is inactive"),
            Sign("doesn't match ClusterQueue selector"),
        ),
        resolved_by=(Sign("Admitted by ClusterQueue"), Sign("Quota reserved in ClusterQueue")),
        messages=(
            "LocalQueue ... doesn't exist",
            "ClusterQueue ... is inactive",
            "doesn't match ClusterQueue selector",
        ),
        explanation="The label of the run names a queue that is not in its namespace, its ClusterQueue is absent or "
        "lacks a flavor, or the queue does not take runs of this namespace.",
        remedy="kubectl get localqueues -n NAMESPACE lists the names; kubectl describe clusterqueue tells why one is "
        "inactive.",
        source="github.com/kubernetes-sigs/kueue pkg/workload/workload.go",
        rules=("site-queue-unknown",),
    ),
    Cause(
        name="kueue-pods-not-ready",
        title="Kueue evicted a run whose pods did not become ready in time",
        signs=(Sign("Exceeded the PodsReady timeout"),),
        level=Level.CONSEQUENCE,
        confidence="medium",
        explanation="Kueue waits until an admitted run is ready. A TrainJob is ready when all its pods are, a "
        "PyTorchJob when its Master runs. One of these pods stayed Pending or did not become ready.",
        remedy="Read the events of the pods: images, volumes, nodes. The administrator sets waitForPodsReady.timeout.",
        source="github.com/kubernetes-sigs/kueue pkg/controller/core/workload_controller.go",
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
        name="gang-incomplete",
        title="the pods of a run cannot be placed together",
        signs=(
            Sign("resource in cluster is overused"),
            Sign("resource gap: map["),
            Sign("tasks in gang unschedulable"),
            Sign("pod group is not ready"),
            Sign("gets rejected due to", r"PodGroup \S+ gets rejected"),
            Sign("PodGroup not found"),
        ),
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
        name="pod-preempted",
        title="the scheduler removed a pod for one of higher priority",
        signs=(Sign("Preempted by "), Sign("PreemptionByScheduler"), Sign("Preempted to accommodate a workload")),
        explanation="A pod with a higher PriorityClass needed the place, and the others of the run lost this rank.",
        remedy="Resume from the last checkpoint; give the run a PriorityClass of its own "
        "(`placement.priorityClassName`), "
        "or a queue.",
        source="github.com/kubernetes/kubernetes pull request 114923",
    ),
)
