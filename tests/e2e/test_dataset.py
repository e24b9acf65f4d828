"""Data sets are fetched before training from servers in the cluster: complete or not at all, once per shared volume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import data_server
from tests.harness.jobs.data_server import DataServer
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.programs.serve import PAGES, SIZE
from tests.harness.jobs.run import Run

FILES = {Path(path).name: content for path, content in PAGES.items()}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
# The "training": each pod prints the digests of the files that it finds.
READ = """
import hashlib, json, pathlib, sys
files = [path for path in pathlib.Path(sys.argv[1]).rglob("*") if path.is_file() and path.name[0] != "."]
print("found", json.dumps({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}))
"""


def reader_settings(folder: str) -> dict[str, object]:
    """Return settings of a run whose program reads this folder."""
    return {
        # With a Master the job would end with the first of its pods.
        "layout": "worker-only",
        "launcher": "command",
        "train.command": ["python3", "-c", READ],
        "train.module": "",
        "train.args": [folder],
        "checkpoints.enabled": False,
    }


def found_digests(outcome: Outcome) -> list[dict[str, str]]:
    """Return the digests of the files that each pod has found."""
    words = "found "
    return [json.loads(line.removeprefix(words)) for line in outcome.log if line.startswith(words)]


def init_log(run: Run, pod: str) -> str:
    """Return the log of a pod's init container."""
    command = ["logs", f"{run.release}-{pod}", "--container", "dataset", "--namespace", run.namespace]
    return api.kubectl(run.cluster.kubeconfig, *command)


def all_init_logs(run: Run) -> str:
    """Return the logs of the init containers of all pods that have started."""
    pods = ["--selector", run.selector, "--namespace", run.namespace]
    words = ["--container", "dataset", "--tail=-1", "--ignore-errors"]
    return api.kubectl(run.cluster.kubeconfig, "logs", *pods, *words)


@pytest.fixture(scope="module")
def server(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[DataServer]:
    """The server of the module's namespace."""
    with data_server.running(cluster, engine, namespace) as server:
        yield server


@pytest.fixture(scope="module")
def shared(cluster: Cluster, engine: Engine, namespace: str) -> Run:
    """A run whose pods share a volume."""
    return Run(cluster, engine, namespace, "shared")


def http_settings(server: DataServer) -> dict[str, object]:
    """Return settings of a run that fetches both files onto a shared volume, which the program mounts read-only."""
    return {
        **reader_settings("/data/set"),
        "volumes.data": {
            "create": {"size": "1Gi", "storageClassName": "shared", "keep": True},
            "mountPath": "/data",
            "readOnly": True,
        },
        "dataset.source": "http",
        "dataset.volume": "data",
        "dataset.path": "set",
        "dataset.http.urls": [f"{server.address}{path}" for path in PAGES],
        "dataset.checksum.files": SUMS,
    }


@pytest.fixture(scope="module")
def fetched(shared: Run, server: DataServer) -> tuple[Outcome, str]:
    """The run, followed to its end, and the logs of its two init containers."""
    shared.install(settings=http_settings(server))
    outcome = shared.follow()
    shared.require_success(outcome)
    words = init_log(shared, "worker-0") + init_log(shared, "worker-1")
    shared.uninstall()
    return outcome, words


def test_one_pod_fetches_onto_a_shared_volume_and_all_pods_find_the_right_bytes(
    fetched: tuple[Outcome, str], server: DataServer
) -> None:
    outcome, words = fetched

    assert found_digests(outcome) == [SUMS, SUMS]
    assert words.count("verified 7.6 MiB, 2 files") == 1
    assert words.count("dataset: /data/set is complete\n") == 2
    assert [line for line in server.requests() if "whole.bin" in line] == ["GET /files/whole.bin whole"]


def test_an_interrupted_transfer_is_resumed(fetched: tuple[Outcome, str], server: DataServer) -> None:
    _, words = fetched

    requests = [line for line in server.requests() if "cut.bin" in line]

    assert requests == ["GET /files/cut.bin whole", f"GET /files/cut.bin bytes={SIZE // 2}-"]
    assert "cut.bin: continuing at " in words


def test_a_second_run_finds_the_data_complete_and_sends_no_request(
    fetched: tuple[Outcome, str], shared: Run, server: DataServer
) -> None:
    before = server.requests()
    shared.install(settings=http_settings(server))

    outcome = shared.follow()

    shared.require_success(outcome)
    assert found_digests(outcome) == [SUMS, SUMS]
    assert init_log(shared, "worker-0") == "dataset: /data/set is complete\n"
    assert server.requests() == before
    shared.uninstall()


def test_a_wrong_checksum_fails_the_run_and_leaves_no_complete_data_set(
    fetched: tuple[Outcome, str], shared: Run, server: DataServer, connection: Any
) -> None:
    run = Run(shared.cluster, shared.engine, shared.namespace, "wrong")
    volume = {"claim": f"{shared.release}-data", "mountPath": "/data"}
    wrong = {"volumes.data": volume, "dataset.path": "wrong", "dataset.checksum.files": {"whole.bin": "0" * 64}}
    run.install(settings={**http_settings(server), **reader_settings("/data/wrong"), **wrong, "restartPolicy": "Never"})

    outcome = run.follow()

    assert not outcome.succeeded
    assert found_digests(outcome) == []
    # One pod fetches, and the other waits for it until the job has failed.
    words = all_init_logs(run)
    assert "error: whole.bin" in words, (outcome.reason, words)
    assert SUMS["whole.bin"] in words
    run.uninstall()
    claim = api.find(connection, "v1", "PersistentVolumeClaim", f"{shared.release}-data", run.namespace)
    assert claim is not None
    (folder,) = (run.cluster.folder / "shared").glob(f"*{claim.spec.volumeName}*")
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["set"]


def test_each_pod_fetches_a_git_tag_onto_its_own_disk(
    cluster: Cluster, engine: Engine, namespace: str, server: DataServer
) -> None:
    run = Run(cluster, engine, namespace, "commit")
    settings = {
        "scratch.enabled": True,
        "dataset.source": "git",
        "dataset.volume": "scratch",
        "dataset.image": server.image,
        "dataset.git.url": f"{server.address}/git/set",
        "dataset.git.ref": "v1",
        "dataset.git.path": "data",
    }
    run.install(settings={**reader_settings("/scratch/dataset"), **settings})

    outcome = run.follow()

    run.require_success(outcome)
    first = {"labels.txt": hashlib.sha256(b"the first\n").hexdigest()}
    assert found_digests(outcome) == [first, first]
    assert len([line for line in server.requests() if line.startswith("GET /git/set/info/refs?")]) == 2
    run.uninstall()
