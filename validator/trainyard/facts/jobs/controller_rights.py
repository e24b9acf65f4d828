"""Resources that controllers list and watch from their start: without the right to do so they end, or do nothing.

Sources: the reconcilers (`For`, `Owns`) of ray-project/kuberay v0.4.0 to v1.7.0 ray-operator/controllers/ray,
kubernetes-sigs/jobset v0.2.0 to v0.12.0 pkg/controllers and kubernetes-sigs/lws v0.3.0 to v0.10.0 pkg/controllers; the
informers of kubeflow/mpi-operator v0.4.0 to v0.8.0 pkg/controller/mpi_job_controller.go; New of
kubernetes-sigs/scheduler-plugins v0.31.8 pkg/coscheduling and pkg/capacityscheduling.
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


def watched_by(image: str) -> tuple[str, tuple[Resource, ...]]:
    """Returns the name of the controller in an image, and what it watches; nothing for other images and releases."""
    for one in CONTROLLERS:
        match = one.image.search(image)
        if match is not None and (int(match[1]), int(match[2])) >= one.first:
            return one.title, one.watched
    return "", ()
