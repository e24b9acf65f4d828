"""An elastic run continues when a pod is lost, and grows when one is added."""

from __future__ import annotations

from typing import Any

from tests.e2e.worlds import ENDLESS, Worlds
from tests.harness.cluster import api
from tests.harness.jobs.run import Run


def test_an_elastic_run_survives_a_lost_pod_and_grows_to_three(digits: Run, connection: Any) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "elastic")
    run.install(settings={**ENDLESS, "nodes": 2, "elastic": {"enabled": True, "minNodes": 1, "maxNodes": 3}})
    worlds = Worlds(run)

    worlds.until(2)
    lost = f"{run.release}-worker-1"
    api.kubectl(run.cluster.kubeconfig, "delete", "pod", lost, "-n", run.namespace, "--grace-period=0", "--force")
    worlds.until(2)
    scaled = ("scale", "pytorchjob", run.release, "--replicas=3", "-n", run.namespace)
    api.kubectl(run.cluster.kubeconfig, *scaled)
    worlds.until(3)

    job = api.find(connection, "kubeflow.org/v1", "PyTorchJob", run.release, run.namespace)
    assert job is not None
    assert job.status.replicaStatuses.Worker.active == 3
    run.uninstall()
