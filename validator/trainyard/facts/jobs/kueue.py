"""Names that Kueue reads from jobs and pod templates, and fields of its objects that versions call otherwise.

Source: kubernetes-sigs/kueue v0.19.2, apis/kueue/v1beta2/topology_types.go, pkg/constants and
pkg/controller/constants/constants.go; the CRDs of v0.10.0 to v0.19.2 config/components/crd/bases.
"""

from __future__ import annotations

from trainyard.startup import NamedTuple

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


class Versioned(NamedTuple):
    """A field of a spec, the versions that have it, and its name in the others; empty if they have none."""

    field: str
    versions: tuple[str, ...]
    other: str


_OLD, _NEW = ("v1alpha1", "v1beta1"), ("v1beta2",)
OF_ONE_VERSION = {
    "ClusterQueue": (
        Versioned("cohort", _OLD, "cohortName"),
        Versioned("cohortName", _NEW, "cohort"),
        Versioned("admissionChecks", _OLD, "admissionChecksStrategy"),
    ),
    "MultiKueueCluster": (
        Versioned("kubeConfig", _OLD, "clusterSource"),
        Versioned("clusterProfileRef", _OLD, "clusterSource"),
        Versioned("clusterSource", _NEW, "kubeConfig"),
    ),
    "AdmissionCheck": (Versioned("retryDelayMinutes", _OLD, ""),),
    "Workload": (
        Versioned("priorityClassName", _OLD, "priorityClassRef"),
        Versioned("priorityClassRef", _NEW, "priorityClassName"),
    ),
}
