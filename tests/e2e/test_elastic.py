"""An elastic run goes on when a pod is lost, and takes in one that is added."""

from __future__ import annotations

import re
from typing import Any

from tests.cluster import api
from tests.cluster.errors import ClusterError
from tests.jobs.run import Run

WORLD = re.compile(r"^trainer: .* world_size=(\d+) ", re.MULTILINE)
EPOCH = re.compile(r"^epoch=(\d+)/", re.MULTILINE)
RESUMED = re.compile(r"^resumed: epoch=(\d+) ", re.MULTILINE)


def test_a_run_of_one_to_three_pods_loses_one_and_grows(digits: Run, connection: Any) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "elastic")
    run.install(
        settings={
            "nodes": 2,
            "elastic": {"enabled": True, "minNodes": 1, "maxNodes": 3},
            "placement.spread": "none",
            "resources.limits.cpu": "300m",
            "train.args": ["--epochs", "1000000", "--batch-size", "36", "--checkpoint-dir", "/checkpoints"],
            "checkpoints.keep": False,
        }
    )

    def log() -> str:
        try:
            return api.kubectl(run.cluster.kubeconfig, "logs", "-n", run.namespace, f"{run.release}-worker-0")
        except ClusterError:  # its container has not started yet
            return ""

    def until_world(size: str, behind: int = 0) -> tuple[str, int]:
        """Wait until worker 0 trains in a world of this size that began behind a character of its log.

        Returns the log and where it ended. Where a pod takes long to come there is a smaller world in between.
        """

        def trained() -> str | None:
            text = log()
            starts = [start for start in WORLD.finditer(text) if start.start() >= behind]
            return text if starts and starts[-1][1] == size and EPOCH.search(text, starts[-1].end()) else None

        text = api.wait_until(trained, what=f"an epoch in a world of {size}", seconds=240)
        return text, len(text)

    first, end = until_world("2")
    lost = f"{run.release}-worker-1"
    api.kubectl(run.cluster.kubeconfig, "delete", "pod", lost, "-n", run.namespace, "--grace-period=0", "--force")
    second, end = until_world("2", end)
    scaled = ("scale", "pytorchjob", run.release, "--replicas=3", "-n", run.namespace)
    api.kubectl(run.cluster.kubeconfig, *scaled)
    third, _ = until_world("3", end)

    for before, after in ((first, second), (second, third)):
        resumed = RESUMED.findall(after[len(before) :])
        assert resumed
        # An epoch is told before its checkpoint is begun, and the one before it may still be under way.
        assert int(resumed[0]) >= int(EPOCH.findall(before)[-1]) - 2
    job = api.find(connection, "kubeflow.org/v1", "PyTorchJob", run.release, run.namespace)
    assert job is not None
    assert job.status.replicaStatuses.Worker.active == 3
    run.uninstall()
