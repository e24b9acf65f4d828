"""Kinds of objects that rules are about, beside those with pods. A file without any of them was not checked."""

from __future__ import annotations

JUDGED_KINDS = frozenset(
    (
        *("ConfigMap", "LimitRange", "PersistentVolumeClaim", "PodGroup", "ResourceClaim", "ResourceClaimTemplate"),
        "ResourceQuota",
        *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
        *("AppWrapper", "ClusterTrainingRuntime", "Experiment", "TrainingRuntime", "RayService", "Queue"),
        "LLMInferenceService",
        *("LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology"),
        *("AdmissionCheck", "MultiKueueConfig", "MultiKueueCluster", "ProvisioningRequestConfig"),
        *("PrometheusRule", "ServiceMonitor", "PodMonitor"),
        *("ClusterPolicy", "NVIDIADriver", "NicClusterPolicy", "NicNodePolicy", "NetworkAttachmentDefinition"),
        *("HostDeviceNetwork", "IPoIBNetwork", "MacvlanNetwork", "SriovNetwork", "SriovIBNetwork", "OVSNetwork"),
        *("SriovNetworkNodePolicy", "IPPool", "CIDRPool", "HelmRelease", "HelmChart", "Application"),
        *("NodeFeatureRule", "NodeFeatureGroup", "KubeletConfiguration", "KubeSchedulerConfiguration"),
        *("ClusterConfiguration", "Configuration", "InitConfiguration", "JoinConfiguration", "KubeProxyConfiguration"),
        *("KubeadmConfig", "KubeadmConfigTemplate", "KubeadmControlPlane", "KubeadmControlPlaneTemplate", "Shoot"),
        "NodeSet",
        *("ClusterConfig", "ClusterSecretStore", "EC2NodeClass", "NodePool", "ScaledJob", "ScaledObject"),
        *("StorageClass", "HTTPRoute", "GRPCRoute", "InferenceService"),
    )
)
