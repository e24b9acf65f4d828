"""A pod vanishes without closing its connections, as with its node, and the others wait in a collective for it.

The run has Workers alone and any program: torchrun must end the wait, long before the timeout of the process group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.run import Run

# PyTorch's gloo waits 30 minutes, and torchrun until 3 missed heartbeats of 5 s; the rest is for a busy machine.
RECOVERY_SECONDS = 90
PROGRAM = """\
import time

import torch
from torch import distributed

distributed.init_process_group("gloo")
for step in range(25):
    distributed.all_reduce(torch.ones(1))
    print("step", step, flush=True)
    time.sleep(1)
print("finished", flush=True)
"""


@contextmanager
def unreachable(cluster: Cluster, engine: Engine, address: str) -> Iterator[None]:
    """Drops all traffic of a pod on the nodes."""
    rules = [(node, "FORWARD", side, address, "-j", "DROP") for node in cluster.workers for side in ("-s", "-d")]
    for node, *rule in rules:
        cluster.check(engine, node, "iptables", "-I", *rule)
    try:
        yield
    finally:
        for node, *rule in rules:
            cluster.check(engine, node, "iptables", "-D", *rule)


@pytest.mark.long
def test_a_pod_that_vanishes_without_a_word_is_replaced(
    cluster: Cluster, engine: Engine, fresh_namespace: str, connection: Any, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    file = f"--from-file={tmp_path / 'train.py'}"
    api.kubectl(cluster.kubeconfig, "--namespace", fresh_namespace, "create", "configmap", "program", file)
    run = Run(cluster, engine, fresh_namespace, "vanished")
    run.install(
        settings={
            "layout": "worker-only",
            "processesPerNode": 1,
            "train.script": "/app/train.py",
            "volumes.script": {"configMap": {"name": "program"}, "mountPath": "/app"},
            "resources.limits": {"cpu": "500m", "memory": "1Gi"},
            "sharedMemory.size": "64Mi",
        }
    )
    lost = f"{run.release}-worker-1"

    def has_begun(times: int) -> bool:
        worker = f"{run.release}-worker-0"
        try:
            log = api.kubectl(cluster.kubeconfig, "--namespace", fresh_namespace, "logs", worker)
        except ClusterError:  # its container has not started yet
            return False
        return log.count("step 5\n") == times

    api.wait_until(lambda: has_begun(1), what="the fifth step", seconds=120)
    address = next(pod.status.podIP for pod in run.pods(connection) if pod.metadata.name == lost)
    with unreachable(cluster, engine, address):
        # Neither the step that the others are in nor the next one can end now.
        at_once = ("--grace-period=0", "--force", "--wait=false")
        api.kubectl(cluster.kubeconfig, "--namespace", fresh_namespace, "delete", "pod", lost, *at_once)
        api.wait_until(lambda: has_begun(2), what="the fifth step of the next attempt", seconds=RECOVERY_SECONDS)
    run.require_success(run.follow())
    run.uninstall()
