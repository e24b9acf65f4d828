"""Labels of nodes that have a fixed set of values, and names that no node has, with the right ones.

Sources: kubernetes.io/docs/reference/labels-annotations-taints; docs.aws.amazon.com/sagemaker: HyperPod resilience
labels; docs.aws.amazon.com/eks: managed node groups, capacity types; karpenter.sh/docs/concepts/scheduling;
cloud.google.com/kubernetes-engine: node labels; NVIDIA/gpu-operator v25.3.0 controllers/state_manager.go and
NVIDIA/k8s-device-plugin v0.17.0 docs/gpu-feature-discovery.
"""

from __future__ import annotations

HOSTNAME = "kubernetes.io/hostname"
_SWITCH = ("true", "false")
VALUES: dict[str, tuple[str, ...]] = {
    "kubernetes.io/os": ("linux", "windows"),
    "kubernetes.io/arch": ("amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64", "386"),
    "nvidia.com/gpu.present": _SWITCH,
    "nvidia.com/mig.capable": _SWITCH,
    "nvidia.com/gpu.deploy.driver": (*_SWITCH, "pre-installed", "paused-for-driver-upgrade"),
    "nvidia.com/mig.config.state": ("success", "failed", "pending", "rebooting"),
    "karpenter.sh/capacity-type": ("spot", "on-demand", "reserved"),
    "eks.amazonaws.com/capacityType": ("SPOT", "ON_DEMAND", "CAPACITY_BLOCK"),
    "cloud.google.com/gke-spot": _SWITCH,
    "cloud.google.com/gke-preemptible": _SWITCH,
    "sagemaker.amazonaws.com/compute-type": ("hyperpod",),
    "sagemaker.amazonaws.com/node-health-status": (
        "Schedulable", "Unschedulable", "UnschedulablePendingReplacement", "UnschedulablePendingReboot",
    ),
    "sagemaker.amazonaws.com/deep-health-check-status": ("InProgress", "Passed", "Failed"),
}  # fmt: skip
# Names that nothing sets, by the one that is meant.
NAMES: dict[str, str] = {
    "deep-health-check-passed": "sagemaker.amazonaws.com/deep-health-check-status: Passed",
    "sagemaker.amazonaws.com/deep-health-check-passed": "sagemaker.amazonaws.com/deep-health-check-status: Passed",
    "node-health-status": "sagemaker.amazonaws.com/node-health-status: Schedulable",
    "nvidia.com/gpu-product": "nvidia.com/gpu.product",
    "nvidia.com/gpu.name": "nvidia.com/gpu.product",
    "nvidia.com/gpu.model": "nvidia.com/gpu.product",
    "nvidia.com/gpu-count": "nvidia.com/gpu.count",
    "nvidia.com/gpu-memory": "nvidia.com/gpu.memory",
    "cloud.google.com/gke-gpu-accelerator": "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-accelerators": "cloud.google.com/gke-accelerator",
    "kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "kubernetes.io/host-name": HOSTNAME,
    "node.kubernetes.io/hostname": HOSTNAME,
    "kubernetes.io/zone": "topology.kubernetes.io/zone",
    "kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/hostname": HOSTNAME,
    "topology.kubernetes.io/host": HOSTNAME,
    "topology.kubernetes.io/zones": "topology.kubernetes.io/zone",
    "eks.amazonaws.com/node-group": "eks.amazonaws.com/nodegroup",
    "eks.amazonaws.com/capacity-type": "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacityType": "karpenter.sh/capacity-type",
}
