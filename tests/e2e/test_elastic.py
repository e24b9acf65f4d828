"""An elastic run goes on when a pod is lost, and takes in one that is added."""

from __future__ import annotations

import re
from typing import Any

from tests.cluster import api
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
        return api.kubectl(run.cluster.kubeconfig, "logs", "-n", run.namespace, f"{run.release}-worker-0")

    def until_world(*sizes: str) -> str:
        """Wait until the processes of worker 0 have been in worlds of these sizes, and have trained in the last."""

        def trained() -> str | None:
            text = log()
            starts = list(WORLD.finditer(text))
            seen = [start[1] for start in starts] == list(sizes)
            return text if seen and EPOCH.search(text, starts[-1].end()) else None

        return api.wait_until(trained, what=f"an epoch in worlds of {', '.join(sizes)} in turn", seconds=240)

    first = until_world("2")
    lost = f"{run.release}-worker-1"
    api.kubectl(run.cluster.kubeconfig, "delete", "pod", lost, "-n", run.namespace, "--grace-period=0", "--force")
    second = until_world("2", "2")
    scaled = ("scale", "pytorchjob", run.release, "--replicas=3", "-n", run.namespace)
    api.kubectl(run.cluster.kubeconfig, *scaled)
    third = until_world("2", "2", "3")

    last = [int(EPOCH.findall(text)[-1]) for text in (first, second)]
    resumed = [int(epoch) for epoch in RESUMED.findall(third)]
    assert len(resumed) == 2
    assert all(epoch >= before for epoch, before in zip(resumed, last, strict=True))
    job = api.find(connection, "kubeflow.org/v1", "PyTorchJob", run.release, run.namespace)
    assert job is not None
    assert job.status.replicaStatuses.Worker.active == 3
    run.uninstall()
