"""Names that Kueue reads from jobs and pod templates.

Source: kubernetes-sigs/kueue v0.19.2, apis/kueue/v1beta2/topology_types.go, pkg/constants and
pkg/controller/constants/constants.go.
"""

from __future__ import annotations

QUEUE = "kueue.x-k8s.io/queue-name"
ELASTIC = "kueue.x-k8s.io/elastic-job"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
SLICE_REQUIRED = "kueue.x-k8s.io/podset-slice-required-topology"
SLICE_SIZE = "kueue.x-k8s.io/podset-slice-size"
SLICE_CONSTRAINTS = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
GROUP = "kueue.x-k8s.io/podset-group-name"

# A pod template may have at most one of these.
TOPOLOGY_REQUESTS = (REQUIRED, PREFERRED, UNCONSTRAINED)
SLICES = (SLICE_REQUIRED, SLICE_SIZE, SLICE_CONSTRAINTS)
