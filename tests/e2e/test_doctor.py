"""`trainyard doctor` names the causes of pods that fail on a real cluster, live and from a support bundle."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e import diagnosing, doctor_pods
from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from trainyard.cli import main

FAILING = doctor_pods.failing()
# From the creation of all pods; those that have failed are diagnosed meanwhile.
SECONDS = 240


@pytest.fixture(scope="module")
def place(cluster: Cluster, engine: Engine) -> Iterator[str]:
    """A namespace in which everything fails."""
    name = f"doctor-{uuid4().hex[:6]}"
    image = loading.load(cluster, engine, "trainer")
    namespaces.create(cluster.kubeconfig, name, level="baseline")
    listed = doctor_pods.manifests(name, image, FAILING)
    try:
        api.apply(cluster.kubeconfig, *listed)
        yield name
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "validatingwebhookconfiguration", name, "--ignore-not-found")
        namespaces.delete(cluster.kubeconfig, name)


def _doctor(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    code = main.main(["doctor", *words])
    out, err = capfd.readouterr()
    assert code in (0, 1), err
    return out


@pytest.mark.parametrize("name", FAILING)
def test_the_cause_of_a_live_failure_is_named(name: str, place: str, cluster: Cluster, tmp_path: Path) -> None:
    diagnosing.require(cluster, place, name, FAILING[name].causes, tmp_path, SECONDS)


def test_the_rank_that_failed_first_is_named(place: str, cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    (name,) = (name for name, one in FAILING.items() if one.first is not None)
    options = ("--kubeconfig", str(cluster.kubeconfig), "--namespace", place, "--format", "json")

    def first() -> str | None:
        found = json.loads(_doctor(capfd, "--run", name, *options))["first_failure"]
        return found and str(found["origin"])

    assert api.wait_until(first, what="the first failure", seconds=SECONDS) == FAILING[name].first


def test_a_bundle_says_the_same_without_the_cluster_and_has_no_secret(
    place: str, cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ("--kubeconfig", str(cluster.kubeconfig), "--namespace", place)
    bundle = tmp_path / "crash.tar.gz"

    def previous() -> bool:
        _doctor(capfd, "--collect", "crash", "-o", str(bundle), *options)
        with tarfile.open(bundle) as archive:
            return {"logs/crash/main.previous.log", "objects/pod.crash.json"} <= set(archive.getnames())

    api.wait_until(previous, what="the log of the attempt before", seconds=SECONDS)
    with tarfile.open(bundle) as archive:
        members = [archive.extractfile(member) for member in archive]
        texts = [member.read().decode() for member in members if member is not None]
    assert any("logged in with <left out>" in text for text in texts)
    assert not any(doctor_pods.TOKEN in text for text in texts)
    assert "crash.tar.gz/" in _doctor(capfd, str(bundle))
    found = json.loads(_doctor(capfd, str(bundle), "--format", "json"))
    assert [cause["cause"] for cause in found["causes"]] == ["crash-loop"]
