"""Data arrives before training, from servers in the cluster: whole, once where pods share a volume, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import api
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import data_server
from tests.jobs.data_server import DataServer
from tests.jobs.follow import Outcome
from tests.jobs.programs.serve import PAGES, SIZE
from tests.jobs.run import Run

FILES = {Path(path).name: content for path, content in PAGES.items()}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
# What "training" is here: each pod says which bytes it finds.
READ = """
import hashlib, json, pathlib, sys
files = [path for path in pathlib.Path(sys.argv[1]).rglob("*") if path.is_file() and path.name[0] != "."]
print("found", json.dumps({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}))
"""


def reading(folder: str) -> dict[str, object]:
    """Settings of a run whose program reads this folder."""
    return {
        # With a Master the run would end with the first of its pods.
        "layout": "worker-only",
        "launcher": "command",
        "train.command": ["python3", "-c", READ],
        "train.module": "",
        "train.args": [folder],
        "checkpoints.enabled": False,
    }


def found(outcome: Outcome) -> list[dict[str, str]]:
    """The digests of the files that each pod has found."""
    words = "found "
    return [json.loads(line.removeprefix(words)) for line in outcome.log if line.startswith(words)]


def said(run: Run, pod: str) -> str:
    """What the init container of a pod has said."""
    command = ["logs", f"{run.release}-{pod}", "--container", "dataset", "--namespace", run.namespace]
    return api.kubectl(run.cluster.kubeconfig, *command)


def said_by_any(run: Run) -> str:
    """What the init containers of all pods have said, where they have begun."""
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


def by_http(server: DataServer) -> dict[str, object]:
    """Settings of a run that fetches both files onto a volume that its pods share, and that it only reads."""
    return {
        **reading("/data/set"),
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
    """That run, followed to its end, and what its two init containers have said."""
    shared.install(settings=by_http(server))
    outcome = shared.follow()
    shared.require_success(outcome)
    words = said(shared, "worker-0") + said(shared, "worker-1")
    shared.uninstall()
    return outcome, words


def test_of_the_pods_that_share_a_volume_one_fetches_and_all_find_the_right_bytes(
    fetched: tuple[Outcome, str], server: DataServer
) -> None:
    outcome, words = fetched

    assert found(outcome) == [SUMS, SUMS]
    assert words.count("has verified 7.6 MiB, 2 files") == 1
    assert words.count("dataset: /data/set is complete\n") == 2
    assert [line for line in server.asked() if "whole.bin" in line] == ["GET /files/whole.bin whole"]


def test_a_transfer_that_breaks_goes_on_where_it_ended(fetched: tuple[Outcome, str], server: DataServer) -> None:
    _, words = fetched

    requests = [line for line in server.asked() if "cut.bin" in line]

    assert requests == ["GET /files/cut.bin whole", f"GET /files/cut.bin bytes={SIZE // 2}-"]
    assert "cut.bin: goes on at " in words


def test_a_second_run_finds_the_data_complete_and_asks_the_server_nothing(
    fetched: tuple[Outcome, str], shared: Run, server: DataServer
) -> None:
    before = server.asked()
    shared.install(settings=by_http(server))

    outcome = shared.follow()

    shared.require_success(outcome)
    assert found(outcome) == [SUMS, SUMS]
    assert said(shared, "worker-0") == "dataset: /data/set is complete\n"
    assert server.asked() == before
    shared.uninstall()


def test_a_wrong_checksum_fails_the_run_and_leaves_nothing_that_looks_complete(
    fetched: tuple[Outcome, str], shared: Run, server: DataServer, connection: Any
) -> None:
    run = Run(shared.cluster, shared.engine, shared.namespace, "wrong")
    volume = {"claim": f"{shared.release}-data", "mountPath": "/data"}
    wrong = {"volumes.data": volume, "dataset.path": "wrong", "dataset.checksum.files": {"whole.bin": "0" * 64}}
    run.install(settings={**by_http(server), **reading("/data/wrong"), **wrong, "restartPolicy": "Never"})

    outcome = run.follow()

    assert not outcome.succeeded
    assert found(outcome) == []
    # One of them fetches, and the other waits for it until the job has failed.
    words = said_by_any(run)
    assert "error: whole.bin" in words, words
    assert SUMS["whole.bin"] in words
    run.uninstall()
    claim = api.find(connection, "v1", "PersistentVolumeClaim", f"{shared.release}-data", run.namespace)
    assert claim is not None
    (folder,) = (run.cluster.folder / "shared").glob(f"*{claim.spec.volumeName}*")
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["set"]


def test_each_pod_fetches_a_commit_onto_a_disk_of_its_own(
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
    run.install(settings={**reading("/scratch/dataset"), **settings})

    outcome = run.follow()

    run.require_success(outcome)
    first = {"labels.txt": hashlib.sha256(b"the first\n").hexdigest()}
    assert found(outcome) == [first, first]
    assert len([line for line in server.asked() if line.startswith("GET /git/set/info/refs?")]) == 2
    run.uninstall()
