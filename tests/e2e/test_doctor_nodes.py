"""`trainyard doctor` names the taint that keeps a pod from all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e import diagnosing, doctor_pods
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.jobs import namespace as namespaces

pytestmark = pytest.mark.alone

TAINT = "example.com/gpu=present:NoSchedule"
# The scheduler decides before anybody pulls the image.
IMAGE = "localhost/trainyard/absent:none"


@pytest.fixture
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace, while all workers have a taint, as nodes with GPUs often do."""
    name = f"doctor-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name, level="baseline")
    try:
        api.kubectl(cluster.kubeconfig, "taint", "nodes", *cluster.workers, TAINT)
        yield name
    finally:
        api.kubectl(cluster.kubeconfig, "taint", "nodes", *cluster.workers, f"{TAINT}-")
        namespaces.delete(cluster.kubeconfig, name)


def test_a_taint_that_a_pod_does_not_tolerate_is_named(place: str, cluster: Cluster, tmp_path: Path) -> None:
    api.apply(cluster.kubeconfig, doctor_pods.sleeping(place, "untolerant", IMAGE))
    wanted = frozenset({"unschedulable-taint"})
    diagnosing.require(cluster, place, "untolerant", wanted, tmp_path, seconds=60)
