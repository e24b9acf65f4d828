"""`trainyard doctor` names the causes of pods that fail on a real cluster, live and from a support bundle."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.e2e import doctor_pods
from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from trainyard.audit.cluster import connect
from trainyard.doctor.diagnosis import diagnose
from trainyard.support import collecting, files

FAILING = doctor_pods.failing()
# From the creation of all pods; those that have failed are diagnosed meanwhile.
SECONDS = 75
TOKEN = "hf_not-a-real-token"  # noqa: S105 (no secret)


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


def _diagnosis(cluster: Cluster, place: str, name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "trainyard", "doctor", "--run", name, "--namespace", place, "--format=json"]
    ran = subprocess.run(
        [*command, f"--kubeconfig={cluster.kubeconfig}"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 1), ran.stderr
    tree: dict[str, Any] = json.loads(ran.stdout)
    return tree


def _causes(cluster: Cluster, place: str, name: str, folder: Path) -> frozenset[str]:
    run = collecting.collect(connect(cluster.kubeconfig), name, place)
    files.lay_out(run, folder)
    return frozenset(evidence.cause.name for evidence in diagnose([str(folder)]).causes)


@pytest.mark.parametrize("name", FAILING)
def test_the_cause_of_a_live_failure_is_named(name: str, place: str, cluster: Cluster, tmp_path: Path) -> None:
    wanted = FAILING[name]
    api.wait_until(
        lambda: _causes(cluster, place, name, tmp_path) == wanted.causes or None,
        what=f"{', '.join(wanted.causes)} of {name}",
        seconds=SECONDS,
    )
    if wanted.first is not None:
        assert _diagnosis(cluster, place, name, tmp_path)["first_failure"]["origin"] == wanted.first
