"""The APIs that a training cluster probably serves: charts ask for them before they render such an object."""

from __future__ import annotations

SERVED_APIS = (
    "kubeflow.org/v1", "kubeflow.org/v2beta1", "trainer.kubeflow.org/v1alpha1", "jobset.x-k8s.io/v1alpha2",
    "kueue.x-k8s.io/v1beta1", "k8s.cni.cncf.io/v1", "monitoring.coreos.com/v1",
)  # fmt: skip
