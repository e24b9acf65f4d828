"""The release of Kubernetes that first served an API version, of those that have replaced another one.

Sources: kubernetes.io/docs/reference/using-api/deprecation-guide, "available since"; CHANGELOG of Kubernetes 1.8 and
1.9.
"""

from __future__ import annotations

# By API version and kind. An empty kind stands for all of the version.
INTRODUCED: dict[tuple[str, str], tuple[int, int]] = {
    ("rbac.authorization.k8s.io/v1", ""): (1, 8),
    ("apps/v1", ""): (1, 9),
    ("autoscaling/v2beta2", ""): (1, 12),
    ("scheduling.k8s.io/v1", ""): (1, 14),
    ("coordination.k8s.io/v1", ""): (1, 14),
    ("admissionregistration.k8s.io/v1", ""): (1, 16),
    ("apiextensions.k8s.io/v1", ""): (1, 16),
    ("storage.k8s.io/v1", "CSIDriver"): (1, 18),
    ("certificates.k8s.io/v1", ""): (1, 19),
    ("networking.k8s.io/v1", "Ingress"): (1, 19),
    ("networking.k8s.io/v1", "IngressClass"): (1, 19),
    ("node.k8s.io/v1", ""): (1, 20),
    ("batch/v1", "CronJob"): (1, 21),
    ("discovery.k8s.io/v1", ""): (1, 21),
    ("policy/v1", ""): (1, 21),
    ("autoscaling/v2", ""): (1, 23),
    ("storage.k8s.io/v1", "CSIStorageCapacity"): (1, 24),
    ("flowcontrol.apiserver.k8s.io/v1", ""): (1, 29),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): (1, 30),
    ("resource.k8s.io/v1", ""): (1, 34),
}
