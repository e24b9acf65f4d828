"""Resources that controllers list and watch from their start: without the right to do so they end, or do nothing.

`SWITCHES` are flags by which a controller also creates other objects.

Sources: the reconcilers (`For`, `Owns`) of ray-project/kuberay v0.4.0 to v1.7.0 ray-operator/controllers/ray,
kubernetes-sigs/jobset v0.2.0 to v0.12.0 pkg/controllers and kubernetes-sigs/lws v0.3.0 to v0.10.0 pkg/controllers; the
informers of kubeflow/mpi-operator v0.4.0 to v0.8.0 pkg/controller/mpi_job_controller.go; New of
kubernetes-sigs/scheduler-plugins v0.31.8 pkg/coscheduling and pkg/capacityscheduling. The flags: kubeflow/trainer
v1.9.3 cmd/training-operator.v1/main.go, kubeflow/mpi-operator v0.8.0 cmd/mpi-operator/app/options, kuberay v1.7.0
ray-operator/controllers/ray/batchscheduler, kubeflow/spark-operator v2.5.0 internal/scheduler/volcano.
"""

from __future__ import annotations

import re

from trainyard.startup import NamedTuple, pattern

# An API group, and the name of a resource in it.
Resource = tuple[str, str]


class Controller(NamedTuple):
    """A controller: its name, the first release for which `watched` holds, and these resources."""

    title: str
    image: re.Pattern[str]
    first: tuple[int, int]
    watched: tuple[Resource, ...]


_PODS = (("", "pods"), ("", "services"))
_RELEASE = r":v?(\d+)\.(\d+)\.\d+"
CONTROLLERS = (
    Controller(
        "the KubeRay operator",
        pattern(r"(?:^|/)kuberay/operator" + _RELEASE),
        (0, 4),
        (("ray.io", "rayclusters"), ("ray.io", "rayjobs"), ("ray.io", "rayservices"), *_PODS),
    ),
    Controller(
        "the controller of JobSet",
        pattern(r"(?:^|/)jobset/jobset" + _RELEASE),
        (0, 2),
        (("jobset.x-k8s.io", "jobsets"), ("batch", "jobs"), *_PODS),
    ),
    Controller(
        "the controller of LeaderWorkerSet",
        pattern(r"(?:^|/)lws/lws" + _RELEASE),
        (0, 3),
        (("leaderworkerset.x-k8s.io", "leaderworkersets"), ("apps", "statefulsets"), *_PODS),
    ),
    Controller(
        "the MPI operator",
        pattern(r"(?:^|/)mpioperator/mpi-operator" + _RELEASE),
        (0, 4),
        (("kubeflow.org", "mpijobs"), ("batch", "jobs"), ("", "configmaps"), ("", "secrets"), *_PODS),
    ),
)
# What a plugin of kube-scheduler watches.
OF_PLUGINS: dict[str, Resource] = {
    "Coscheduling": ("scheduling.x-k8s.io", "podgroups"),
    "CapacityScheduling": ("scheduling.x-k8s.io", "elasticquotas"),
}


class Switch(NamedTuple):
    """A flag of a controller, with which it creates and reads a resource.

    `values` are those of the flag, and `used_by` is the kind, the field of its spec, and the value of an object for
    which the controller does so; empty if it does so for all of its jobs.
    """

    title: str
    image: re.Pattern[str]
    flag: str
    values: tuple[str, ...]
    needed: Resource
    used_by: tuple[str, ...] = ()


_OF_VOLCANO: Resource = ("scheduling.volcano.sh", "podgroups")
_OF_PLUGINS: Resource = ("scheduling.x-k8s.io", "podgroups")
_TRAINING, _MPI = pattern(r"(?:^|/)training-operator(?:[:@]|$)"), pattern(r"(?:^|/)mpi-operator(?:[:@]|$)")
_RAY, _SPARK = (
    pattern(r"(?:^|/)kuberay/operator(?:[:@]|$)"),
    pattern(r"(?:^|/)spark-operator(?:/controller)?(?:[:@]|$)"),
)
_SCHEDULED = ("scheduler-plugins", "scheduler-plugins-scheduler", "coscheduling")
SWITCHES = (
    Switch("the training operator", _TRAINING, "gang-scheduler-name", ("volcano",), _OF_VOLCANO),
    Switch("the training operator", _TRAINING, "gang-scheduler-name", _SCHEDULED, _OF_PLUGINS),
    Switch("the MPI operator", _MPI, "gang-scheduling", ("volcano",), _OF_VOLCANO),
    Switch("the MPI operator", _MPI, "gang-scheduling", _SCHEDULED, _OF_PLUGINS),
    Switch("the KubeRay operator", _RAY, "batch-scheduler", ("volcano",), _OF_VOLCANO),
    Switch("the KubeRay operator", _RAY, "batch-scheduler", ("scheduler-plugins",), _OF_PLUGINS),
    Switch("Spark's operator", _SPARK, "default-batch-scheduler", ("volcano",), _OF_VOLCANO),
    Switch(
        "Spark's operator", _SPARK, "enable-batch-scheduler", ("true", ""), _OF_VOLCANO,
        ("SparkApplication", "batchScheduler", "volcano"),
    ),
)  # fmt: skip


def watched_by(image: str) -> tuple[str, tuple[Resource, ...]]:
    """Returns the name of the controller in an image, and what it watches; nothing for other images and releases."""
    for one in CONTROLLERS:
        match = one.image.search(image)
        if match is not None and (int(match[1]), int(match[2])) >= one.first:
            return one.title, one.watched
    return "", ()
