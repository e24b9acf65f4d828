"""A run of `restartPolicy: ExitCode` survives what a node does to its pods, and ends with an error of its program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind
from tests.harness.jobs.run import Run

pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.usefixtures("trainer")]

SECONDS = 90
FILE = "/tmp/fail"  # noqa: S108
# Ends with the status of its first argument on SIGTERM, and with 3 once it finds a file.
PROGRAM = 'trap "exit $0" TERM; while ! test -e /tmp/fail; do sleep 0.2; done; exit 3'


def running(run: Run, connection: Any) -> str | None:
    """Return the uid of the run's pod if it runs and is not being deleted."""
    found = [
        pod for pod in run.pods(connection) if pod.status.phase == "Running" and not pod.metadata.deletionTimestamp
    ]
    return str(found[0].metadata.uid) if len(found) == 1 else None


def another(run: Run, connection: Any, uid: str) -> str:
    """Wait for a pod of the run other than this one, and return its uid."""

    def found() -> str | None:
        now = running(run, connection)
        return now if now != uid else None

    return api.wait_until(found, what="a new pod", seconds=SECONDS)


def name_of(run: Run, connection: Any, uid: str) -> str:
    return next(str(pod.metadata.name) for pod in run.pods(connection) if pod.metadata.uid == uid)


def evict(run: Run, pod: str) -> None:
    """Evict a pod, as a drain of its node does."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": run.namespace},
    }
    path = f"/api/v1/namespaces/{run.namespace}/pods/{pod}/eviction"
    api.kubectl(run.cluster.kubeconfig, "create", "--raw", path, "--filename=-", stdin=json.dumps(body))


def failed(run: Run, connection: Any) -> bool:
    job = api.find(connection, *run.kind, run.release, run.namespace)
    assert job is not None
    return any(one.type == "Failed" and one.status == "True" for one in job.status.conditions or ())


# The training operator looks at the status of the program alone, also in a pod that is evicted.
@pytest.mark.parametrize(("kind", "status"), [(TRAINJOB, 1), (PYTORCHJOB, 143)], ids=["TrainJob", "PyTorchJob"])
def test_an_eviction_does_not_count_and_an_error_of_the_program_ends_the_run(
    cluster: Cluster, engine: Engine, namespace: str, connection: Any, kind: Kind, status: int
) -> None:
    run = Run(cluster, engine, namespace, f"causes-{kind[1].lower()}", kind=kind)
    command = ["sh", "-c", PROGRAM, str(status)]
    # More evictions than restarts.
    policy = {"restartsPerNode": 0}
    run.install(
        settings={
            "nodes": 1,
            "launcher": "command",
            "train": {"module": None, "command": command, "args": []},
            "restartPolicy": "ExitCode",
            "runPolicy": policy,
            "checkpoints.enabled": False,
        }
    )
    uid: str = api.wait_until(lambda: running(run, connection), what="the pod", seconds=SECONDS)
    for _ in range(2):
        evict(run, name_of(run, connection, uid))
        uid = another(run, connection, uid)
        assert not failed(run, connection)

    pod = name_of(run, connection, uid)
    api.kubectl(cluster.kubeconfig, "exec", "--namespace", namespace, pod, "--", "touch", FILE)
    api.wait_until(lambda: failed(run, connection), what="the run to fail", seconds=SECONDS)
    run.uninstall()
