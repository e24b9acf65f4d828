"""API versions that Kubernetes and the Kubeflow operators served once, with the release that dropped them.

Sources: kubernetes.io/docs/reference/using-api/deprecation-guide; kubernetes/kubernetes pull 104248;
kubeflow/training-operator v1.9.3 pkg/apis and kubeflow/mpi-operator v0.8.0 pkg/apis hold kubeflow.org/v1 and v2beta1
alone.
"""

from __future__ import annotations

# By API version and kind, the release that stopped serving it and the version that replaces it. An empty kind stands
# for all of the version.
REMOVED: dict[tuple[str, str], tuple[str, str]] = {
    ("extensions/v1beta1", "DaemonSet"): ("1.16", "apps/v1"),
    ("extensions/v1beta1", "Deployment"): ("1.16", "apps/v1"),
    ("extensions/v1beta1", "ReplicaSet"): ("1.16", "apps/v1"),
    ("extensions/v1beta1", "NetworkPolicy"): ("1.16", "networking.k8s.io/v1"),
    ("extensions/v1beta1", "Ingress"): ("1.22", "networking.k8s.io/v1"),
    ("apps/v1beta1", ""): ("1.16", "apps/v1"),
    ("apps/v1beta2", ""): ("1.16", "apps/v1"),
    ("admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration"): (
        "1.22",
        "admissionregistration.k8s.io/v1",
    ),
    ("admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration"): (
        "1.22",
        "admissionregistration.k8s.io/v1",
    ),
    ("apiextensions.k8s.io/v1beta1", ""): ("1.22", "apiextensions.k8s.io/v1"),
    ("apiregistration.k8s.io/v1beta1", ""): ("1.22", "apiregistration.k8s.io/v1"),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest"): ("1.22", "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1beta1", "Lease"): ("1.22", "coordination.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "Ingress"): ("1.22", "networking.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "IngressClass"): ("1.22", "networking.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v1alpha1", ""): ("1.23", "rbac.authorization.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v1beta1", ""): ("1.22", "rbac.authorization.k8s.io/v1"),
    ("scheduling.k8s.io/v1alpha1", "PriorityClass"): ("1.23", "scheduling.k8s.io/v1"),
    ("scheduling.k8s.io/v1beta1", "PriorityClass"): ("1.22", "scheduling.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "CSIDriver"): ("1.22", "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "CSINode"): ("1.22", "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "StorageClass"): ("1.22", "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "VolumeAttachment"): ("1.22", "storage.k8s.io/v1"),
    ("batch/v1beta1", "CronJob"): ("1.25", "batch/v1"),
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): ("1.25", "discovery.k8s.io/v1"),
    ("events.k8s.io/v1beta1", "Event"): ("1.25", "events.k8s.io/v1"),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler"): ("1.25", "autoscaling/v2"),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): ("1.26", "autoscaling/v2"),
    ("policy/v1beta1", "PodDisruptionBudget"): ("1.25", "policy/v1"),
    ("policy/v1beta1", "PodSecurityPolicy"): ("1.25", ""),
    ("node.k8s.io/v1beta1", "RuntimeClass"): ("1.25", "node.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity"): ("1.27", "storage.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", ""): ("1.26", "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", ""): ("1.29", "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", ""): ("1.32", "flowcontrol.apiserver.k8s.io/v1"),
    ("resource.k8s.io/v1alpha1", ""): ("1.27", ""),
    ("resource.k8s.io/v1alpha2", "ResourceClaim"): ("1.31", "resource.k8s.io/v1"),
    ("resource.k8s.io/v1alpha2", "ResourceClaimTemplate"): ("1.31", "resource.k8s.io/v1"),
    ("resource.k8s.io/v1alpha2", ""): ("1.31", ""),
}
# Versions that an operator served once: by API version and kind, the operator, its release that stopped serving it, and
# the version that replaces it.
# Sources: kubernetes-sigs/kueue v0.12.0 to v0.19.2 and jobset v0.1.3 to v0.11.0, config/components/crd/bases.
DROPPED: dict[tuple[str, str], tuple[str, str, str]] = {
    ("kueue.x-k8s.io/v1alpha1", "Topology"): ("Kueue", "0.14", "kueue.x-k8s.io/v1beta1"),
    ("kueue.x-k8s.io/v1alpha1", "Cohort"): ("Kueue", "0.13", "kueue.x-k8s.io/v1beta1"),
    ("jobset.x-k8s.io/v1alpha1", "JobSet"): ("JobSet", "0.2", "jobset.x-k8s.io/v1alpha2"),
}
# Versions before the stable one, which releases that clusters still run serve or served. Source: k8s.io/api,
# zz_generated.prerelease-lifecycle.go of each group.
PRELIMINARY = frozenset(
    (
        ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding"),
        ("certificates.k8s.io/v1alpha1", "ClusterTrustBundle"),
        ("networking.k8s.io/v1alpha1", "IPAddress"),
        ("networking.k8s.io/v1alpha1", "ServiceCIDR"),
        ("networking.k8s.io/v1beta1", "IPAddress"),
        ("networking.k8s.io/v1beta1", "ServiceCIDR"),
        ("resource.k8s.io/v1alpha3", "DeviceClass"),
        ("resource.k8s.io/v1alpha3", "ResourceClaim"),
        ("resource.k8s.io/v1alpha3", "ResourceClaimTemplate"),
        ("storage.k8s.io/v1alpha1", "VolumeAttributesClass"),
        ("storage.k8s.io/v1beta1", "VolumeAttributesClass"),
        ("storagemigration.k8s.io/v1alpha1", "StorageVersionMigration"),
    )
)
# Kinds of the Kubeflow operators for training. Other projects have kinds of the same group.
KUBEFLOW_JOBS = frozenset(("JAXJob", "MPIJob", "MXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"))
