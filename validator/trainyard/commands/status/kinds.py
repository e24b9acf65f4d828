"""The kinds of runs in a cluster, and the labels by which their controllers mark pods."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.audit.kinds import Kind, kinds
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.facts.jobs.run_labels import JOB, JOB_SET, KUBEFLOW, LEADER_WORKER, RAY, VOLCANO, Labels

# The label with the name of a Helm release.
RELEASE = "app.kubernetes.io/instance"


_LABELS = {
    **dict.fromkeys(REPLICA_FIELDS, KUBEFLOW),
    "TrainJob": JOB_SET,
    "JobSet": JOB_SET,
    "Job": JOB,
    "Job.batch.volcano.sh": VOLCANO,
    "LeaderWorkerSet": LEADER_WORKER,
    "RayCluster": RAY,
    "RayJob": RAY,
}


class RunKind(NamedTuple):
    """A kind of runs, with the labels of its pods."""

    kind: Kind
    labels: Labels

    def path(self, namespace: str) -> str:
        """Returns the URL path of its objects; of all namespaces without a namespace."""
        # All these kinds have regular plurals, which saves the question after them.
        return f"{self.kind.path}{f'/namespaces/{namespace}' if namespace else ''}/{self.kind.name.lower()}s"

    @property
    def resource(self) -> str:
        """The resource name in kubectl's form."""
        plural = f"{self.kind.name.lower()}s"
        return f"{plural}.{self.kind.group}" if self.kind.group else plural


def run_kinds() -> tuple[RunKind, ...]:
    """Returns all kinds of runs; a kind in several API versions has one entry for each."""
    return tuple(RunKind(kind, _LABELS[kind.title]) for kind in kinds() if kind.title in _LABELS)


def labels_of(api_version: str, name: str) -> Labels:
    """Returns the labels for an object of a kind of runs."""
    group, _, version = api_version.rpartition("/")
    return _LABELS[Kind(group, version, name).title]
