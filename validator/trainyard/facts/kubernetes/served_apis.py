"""The APIs that a training cluster probably serves: charts ask for them before they render such an object."""

from __future__ import annotations

SERVED_APIS = (
    "kubeflow.org/v1", "kubeflow.org/v2beta1", "trainer.kubeflow.org/v1alpha1", "jobset.x-k8s.io/v1alpha2",
    "kueue.x-k8s.io/v1beta1", "k8s.cni.cncf.io/v1", "monitoring.coreos.com/v1",
)  # fmt: skip
# The APIs of Kubernetes 1.34. Without them, templates of other charts fall back to versions that are gone.
BUILT_IN_APIS = (
    "v1", "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1", "apps/v1",
    "autoscaling/v1", "autoscaling/v2", "batch/v1", "certificates.k8s.io/v1", "coordination.k8s.io/v1",
    "discovery.k8s.io/v1", "events.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1", "networking.k8s.io/v1",
    "node.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "resource.k8s.io/v1", "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
)  # fmt: skip
