"""An elastic run continues when a pod is lost, and grows when one is added."""

from __future__ import annotations

import re
from typing import Any

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.run import Run

WORLD = re.compile(r"^trainer: .* world_size=(\d+) ", re.MULTILINE)
EPOCH = re.compile(r"^epoch=(\d+)/", re.MULTILINE)
RESUMED = re.compile(r"^resumed: epoch=(\d+) ", re.MULTILINE)


def test_an_elastic_run_survives_a_lost_pod_and_grows_to_three(digits: Run, connection: Any) -> None:
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
        """Wait until worker 0 trains with this world size, in a generation that began after offset `behind` of its log.

        Returns the log and its length. A slow pod causes a generation with a smaller world size in between.
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
        # An epoch is logged before its checkpoint starts, and the previous checkpoint may still be in progress.
        assert int(resumed[0]) >= int(EPOCH.findall(before)[-1]) - 2
    job = api.find(connection, "kubeflow.org/v1", "PyTorchJob", run.release, run.namespace)
    assert job is not None
    assert job.status.replicaStatuses.Worker.active == 3
    run.uninstall()
