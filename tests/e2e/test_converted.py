"""Manifests of jobs, converted by `trainyard convert`: a release of the values alone trains on a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import CHART, Run
from trainyard.cli.main import main

JOBS = Path(__file__).with_name("converted")


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, training_operator: None) -> Iterator[str]:
    """A namespace with Pod Security `baseline`: most manifests have no security context, and so have their values."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name, level="baseline")
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def train(cluster: Cluster, engine: Engine, namespace: str, tmp_path: Path) -> Callable[[str], Outcome]:
    """Convert a manifest, apply the objects beside its job, and run a release of the values to its end."""

    def run_to_end(file: str) -> Outcome:
        documents = list(yaml.safe_load_all((JOBS / file).read_text()))
        *beside, job = documents
        run = Run(cluster, engine, namespace, job["metadata"]["name"], kind=(job["apiVersion"], job["kind"]))
        manifest, values = tmp_path / file, tmp_path / "run.yaml"
        manifest.write_text((JOBS / file).read_text().replace("IMAGE", run.image()))
        assert main(["convert", str(manifest), "-o", str(values)]) == 0
        for one in beside:
            api.apply(cluster.kubeconfig, {**one, "metadata": {**one["metadata"], "namespace": namespace}})
        Helm(cluster.kubeconfig).install(run.release, CHART, namespace=namespace, values=[values])
        outcome = run.follow()
        run.require_success(outcome)
        run.uninstall()
        return outcome

    return run_to_end


def test_a_pytorchjob_trains_on_its_claim(train: Callable[[str], Outcome]) -> None:
    outcome = train("pytorchjob.yaml")
    assert set(outcome.nodes) == {"digits-master-0", "digits-worker-0"}
    assert any("backend=gloo world_size=4" in line for line in outcome.log)
    losses = [float(found[1]) for line in outcome.log if (found := re.search(r"epoch=\d/2 loss=([\d.]+)", line))]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) == 2
    assert any("checkpoint saved" in line for line in outcome.log)


@pytest.mark.parametrize("file", ["jaxjob.yaml", "paddlejob.yaml", "mpijob.yaml"])
def test_the_processes_of_a_job_compute_one_sum(train: Callable[[str], Outcome], file: str) -> None:
    results = train(file).results
    assert sorted(result["rank"] for result in results) == [0, 1]
    assert {(result["size"], result["sum"]) for result in results} == {(2, 3)}


def test_an_xgboostjob_grows_one_model(train: Callable[[str], Outcome]) -> None:
    results = train("xgboostjob.yaml").results
    assert sorted((result["rank"], result["size"]) for result in results) == [(0, 2), (1, 2)]
    assert len({result["trees"] for result in results}) == 1


def test_the_tasks_of_a_tfjob_reach_each_other(train: Callable[[str], Outcome]) -> None:
    tasks = {"chief/0", "worker/0", "ps/0"}
    results: list[dict[str, Any]] = train("tfjob.yaml").results
    assert {result["task"]: set(result["heard"]) for result in results} == {task: tasks - {task} for task in tasks}
