"""The kinds that the audit lists: runs, and the objects that rules compare them with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.facts.jobs import workloads
from trainyard.facts.jobs.kubeflow import JOB_KINDS, REPLICA_FIELDS, RUNTIMES

# API group, version, kinds. If a group serves a kind in several versions, the first one here is listed.
_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("kubeflow.org", "v2beta1", ("MPIJob",)),
    ("kubeflow.org", "v1", tuple(REPLICA_FIELDS)),
    ("trainer.kubeflow.org", "v1alpha1", ("TrainJob", *RUNTIMES)),
    ("jobset.x-k8s.io", "v1alpha2", ("JobSet",)),
    ("batch", "v1", ("Job", "CronJob")),
    (workloads.VOLCANO, "v1alpha1", workloads.GROUPS[workloads.VOLCANO]),
    (workloads.LEADER_WORKER, "v1", workloads.GROUPS[workloads.LEADER_WORKER]),
    (workloads.RAY, "v1", workloads.GROUPS[workloads.RAY]),
    (workloads.HYPERPOD, "v1", workloads.GROUPS[workloads.HYPERPOD]),
    (workloads.MODEL_SERVING, "v1alpha1", workloads.GROUPS[workloads.MODEL_SERVING]),
    (workloads.ELASTIC_JOB, "v1alpha1", workloads.GROUPS[workloads.ELASTIC_JOB]),
    ("workload.codeflare.dev", "v1beta2", ("AppWrapper",)),
    ("k8s.cni.cncf.io", "v1", ("NetworkAttachmentDefinition",)),
    ("nvidia.com", "v1", ("ClusterPolicy",)),
    ("nvidia.com", "v1alpha1", ("NVIDIADriver",)),
    (
        "mellanox.com",
        "v1alpha1",
        ("NicClusterPolicy", "NicNodePolicy", "HostDeviceNetwork", "IPoIBNetwork", "MacvlanNetwork"),
    ),
    (
        "sriovnetwork.openshift.io",
        "v1",
        ("SriovNetworkNodePolicy", "SriovNetwork", "SriovIBNetwork", "OVSNetwork"),
    ),
    ("kueue.x-k8s.io", "v1beta2", ("LocalQueue", "ClusterQueue", "Topology")),
    ("kueue.x-k8s.io", "v1beta1", ("LocalQueue", "ClusterQueue", "Topology")),
    ("kueue.x-k8s.io", "v1alpha1", ("Topology",)),
    ("scheduling.volcano.sh", "v1beta1", ("PodGroup",)),
    ("scheduling.x-k8s.io", "v1alpha1", ("PodGroup",)),
    ("resource.k8s.io", "v1", ("ResourceClaim", "ResourceClaimTemplate")),
    ("", "v1", ("LimitRange",)),
)
# Kinds that hold the pods of a run, by themselves or in an object that they wrap.
RUNS = frozenset((*JOB_KINDS, "CronJob", "AppWrapper")).union(*workloads.GROUPS.values())
# Objects owned by these are created from them. They are linted with their owner or not at all.
OWNERS = RUNS | {"Pod"}


class Kind(NamedTuple):
    """A kind of an API version."""

    group: str
    version: str
    name: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of an object of this kind."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def title(self) -> str:
        """The kind, with its group where Kubernetes itself has a kind of the same name."""
        return f"{self.name}.{self.group}" if self.name == "Job" and self.group != "batch" else self.name

    @property
    def path(self) -> str:
        """The path of the API version on the server."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"


def kinds() -> Iterator[Kind]:
    """Yields all kinds, preferred versions first."""
    for group, version, names in _GROUPS:
        for name in names:
            yield Kind(group, version, name)
