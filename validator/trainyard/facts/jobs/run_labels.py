"""Labels by which the controllers of runs mark their pods.

Sources: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go; jobset api/jobset/v1alpha2/jobset_types.go;
kubernetes api batch/v1; volcano-sh/apis pkg/apis/batch/v1alpha1/labels.go; lws v0.10.0 api/leaderworkerset/v1; kuberay
v1.7.0 ray-operator/controllers/ray/utils/constant.go.
"""

from __future__ import annotations

from trainyard.startup import NamedTuple


class Labels(NamedTuple):
    """Labels of a run's pods: its name, the role, and numbers that order the pods of a role."""

    run: str
    role: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


_COMPLETION = "batch.kubernetes.io/job-completion-index"
_LEADER_WORKER = "leaderworkerset.sigs.k8s.io"

KUBEFLOW = Labels(
    "training.kubeflow.org/job-name",
    ("training.kubeflow.org/replica-type", "training.kubeflow.org/job-role"),
    ("training.kubeflow.org/replica-index",),
)
JOB_SET = Labels(
    "jobset.sigs.k8s.io/jobset-name",
    ("jobset.sigs.k8s.io/replicatedjob-name",),
    ("jobset.sigs.k8s.io/job-index", _COMPLETION),
)
JOB = Labels("batch.kubernetes.io/job-name", (), (_COMPLETION,))
VOLCANO = Labels("volcano.sh/job-name", ("volcano.sh/task-spec",), ("volcano.sh/task-index",))
LEADER_WORKER = Labels(
    f"{_LEADER_WORKER}/name", (), (f"{_LEADER_WORKER}/group-index", f"{_LEADER_WORKER}/worker-index")
)
# The run in this label is that of the RayCluster, to which KubeRay gives a name of its own if a RayJob starts it.
RAY = Labels("ray.io/cluster", ("ray.io/group",))
# The controllers whose label holds the name of the run's object.
BY_NAME = (KUBEFLOW, JOB_SET, JOB, VOLCANO, LEADER_WORKER)
# A Job sets this label beside the one with the prefix.
OLD_JOB_NAME = "job-name"
