"""Upgrades of a running run: pods are kept, and values that running pods cannot take are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.run import CHART, Run

# The chart of the first release and of the last one.
RELEASED = sorted((Path(__file__).parent / "charts").glob("training-job-*.tgz"))
BOTH_RUN = ["Running", "Running"]
# 20 s at least after the pods run, with half a processor each: an upgrade takes a second.
EPOCHS = 30


Pods = Callable[[Run], dict[str, str]]


@pytest.fixture
def pods(connection: Any) -> Pods:
    """A function that returns the phases of a run's pods by UID."""

    def found(run: Run) -> dict[str, str]:
        return {pod.metadata.uid: pod.status.phase for pod in run.pods(connection)}

    return found


def until_epoch(run: Run, number: int) -> Settings:
    arguments = ["--epochs", str(number), "--checkpoint-dir", "/checkpoints"]
    return {**run.settings(), "train.args": arguments, "checkpoints.keep": False}


def until_running(run: Run, pods: Pods) -> None:
    api.wait_until(lambda: sorted(pods(run).values()) == BOTH_RUN, what="both pods to run", seconds=120)


@pytest.mark.parametrize("package", RELEASED, ids=lambda package: str(package.stem))
def test_an_upgrade_from_a_released_version_keeps_the_running_pods(digits: Run, pods: Pods, package: Path) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "older")
    settings = until_epoch(run, EPOCHS)
    helm = Helm(run.cluster.kubeconfig)
    helm.install(run.release, str(package), namespace=run.namespace, settings=settings)
    until_running(run, pods)
    before = pods(run)

    helm.install(run.release, CHART, namespace=run.namespace, settings=settings, upgrade=True)
    assert sorted(pods(run).values()) == BOTH_RUN, "the run ended before it was upgraded"

    outcome = run.follow()
    run.require_success(outcome)
    assert pods(run).keys() == before.keys()
    assert any(line.startswith(f"epoch={EPOCHS}/{EPOCHS} ") for line in outcome.log)
    run.uninstall()


def test_values_that_running_pods_cannot_take_are_refused_until_the_run_is_suspended(digits: Run, pods: Pods) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "changed")
    # Helm 4 refuses fields of other writers; the test above upgrades with Helm 3.
    helm = Helm(run.cluster.kubeconfig, "helm4")

    def upgrade(number: int, **settings: object) -> None:
        given = {**until_epoch(run, number), **settings}
        helm.install(run.release, CHART, namespace=run.namespace, settings=given, upgrade=True)

    upgrade(1_000_000)
    until_running(run, pods)
    before = pods(run)
    with pytest.raises(
        ClusterError, match=r"its pods cannot change: train \(pod.pytorch.args\). Upgrade with --set runPolicy"
    ):
        upgrade(3)
    upgrade(1_000_000, **{"runPolicy.ttlSecondsAfterFinished": 600})
    assert pods(run).keys() == before.keys()

    upgrade(3, **{"runPolicy.suspend": True})
    api.wait_until(lambda: not pods(run), what="the pods to be gone", seconds=60)
    upgrade(3)

    outcome = run.follow()
    run.require_success(outcome)
    assert not pods(run).keys() & before.keys()
    run.uninstall()


@pytest.mark.parametrize("program", ["helm", "helm4"])
def test_an_upgrade_keeps_the_size_of_a_scaled_run_and_can_suspend_it(digits: Run, program: str) -> None:
    """No pod starts: the operator writes none while the run is suspended."""
    run = Run(digits.cluster, digits.engine, digits.namespace, f"scaled-{program}", program)
    helm = Helm(run.cluster.kubeconfig, program)
    elastic = {"enabled": True, "minNodes": 1, "maxNodes": 4}
    run.install(settings={"elastic": elastic, "nodes": 2, "runPolicy.suspend": True, "checkpoints": {"enabled": False}})

    def job(path: str) -> str:
        command = ("get", "pytorchjob", run.release, "-n", run.namespace, "-o", f"jsonpath={{.spec.{path}}}")
        return api.kubectl(run.cluster.kubeconfig, *command)

    workers = "pytorchReplicaSpecs.Worker.replicas"
    api.kubectl(run.cluster.kubeconfig, "scale", "pytorchjob", run.release, "--replicas=3", "-n", run.namespace)
    reuse = ("--reuse-values", "--set", "runPolicy.restartsPerNode=5")
    helm.install(run.release, CHART, namespace=run.namespace, options=reuse, upgrade=True)

    assert (job(workers), job("runPolicy.suspend")) == ("3", "true")
    run.uninstall()
