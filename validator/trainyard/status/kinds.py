"""The kinds of runs in a cluster, and the labels by which their controllers mark pods.

Sources: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go; mpi-operator v0.8.2
pkg/apis/kubeflow/v2beta1; jobset api/jobset/v1alpha2/jobset_types.go; kubernetes api batch/v1; volcano-sh/apis
pkg/apis/batch/v1alpha1/labels.go; lws v0.10.0 api/leaderworkerset/v1; kuberay v1.7.0
ray-operator/controllers/ray/utils/constant.go.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.audit.kinds import Kind, kinds
from trainyard.facts.kubeflow import REPLICA_FIELDS

# The label with the name of a Helm release.
RELEASE = "app.kubernetes.io/instance"


class Labels(NamedTuple):
    """Labels of a run's pods: its name, the role, and numbers that order the pods of a role."""

    run: str
    role: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


_KUBEFLOW = Labels(
    "training.kubeflow.org/job-name",
    ("training.kubeflow.org/replica-type", "training.kubeflow.org/job-role"),
    ("training.kubeflow.org/replica-index",),
)
_COMPLETION = "batch.kubernetes.io/job-completion-index"
_JOB_SET = Labels(
    "jobset.sigs.k8s.io/jobset-name",
    ("jobset.sigs.k8s.io/replicatedjob-name",),
    ("jobset.sigs.k8s.io/job-index", _COMPLETION),
)
_LEADER_WORKER = "leaderworkerset.sigs.k8s.io"
_LABELS = {
    **dict.fromkeys(REPLICA_FIELDS, _KUBEFLOW),
    "TrainJob": _JOB_SET,
    "JobSet": _JOB_SET,
    "Job": Labels("batch.kubernetes.io/job-name", (), (_COMPLETION,)),
    "Job.batch.volcano.sh": Labels("volcano.sh/job-name", ("volcano.sh/task-spec",), ("volcano.sh/task-index",)),
    "LeaderWorkerSet": Labels(
        f"{_LEADER_WORKER}/name", (), (f"{_LEADER_WORKER}/group-index", f"{_LEADER_WORKER}/worker-index")
    ),
    "RayCluster": Labels("ray.io/cluster", ("ray.io/group",)),
    "RayJob": Labels("ray.io/cluster", ("ray.io/group",)),
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
