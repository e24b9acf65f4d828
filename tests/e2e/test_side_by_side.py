"""The training operator and Kubeflow Trainer in one cluster: changes of one leave the run of the other alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kubeflow_trainer, operator
from tests.harness.jobs.helm import CHARTS, Helm
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB
from tests.harness.jobs.run import CHART, Run

# Both are uninstalled in between.
pytestmark = pytest.mark.alone

# As process 1 of its container, sleep ignores SIGTERM.
ENDLESS = {
    "nodes": 1,
    "launcher": "command",
    "train.command": ["sleep", "infinity"],
    "train.args": [],
    "checkpoints.enabled": False,
    "terminationGracePeriodSeconds": 1,
}
STARTED_SECONDS = 120


@dataclass(frozen=True)
class Trained:
    """An endless run, and its pods."""

    run: Run
    connection: Any

    def pods(self) -> dict[str, str]:
        """Return the phase of each pod by UID."""
        return {pod.metadata.uid: pod.status.phase for pod in self.run.pods(self.connection)}

    def trains(self) -> bool:
        """Return true if its pod runs."""
        return list(self.pods().values()) == ["Running"]

    def suspend(self, *, on: bool) -> None:
        """Suspend or resume the run, which only its own controller does."""
        run = self.run
        options = ["--reuse-values", "--set", f"runPolicy.suspend={str(on).lower()}"]
        Helm(run.cluster.kubeconfig).run("upgrade", run.release, str(CHARTS / CHART), "-n", run.namespace, *options)
        wanted = (lambda: not self.pods()) if on else self.trains
        api.wait_until(wanted, what=f"{run.release} to be {'suspended' if on else 'resumed'}", seconds=STARTED_SECONDS)


@pytest.fixture(scope="module")
def trained(cluster: Cluster, engine: Engine, namespace: str, connection: Any) -> Iterator[tuple[Trained, Trained]]:
    """A PyTorchJob and a TrainJob that train at the same time."""
    with kubeflow_trainer.installed(cluster, engine):
        both = [Run(cluster, engine, namespace, f"a-{kind[1].lower()}", kind=kind) for kind in (PYTORCHJOB, TRAINJOB)]
        for run in both:
            run.install(settings=ENDLESS)
        old, new = (Trained(run, connection) for run in both)
        api.wait_until(lambda: old.trains() and new.trains(), what="both runs to train", seconds=STARTED_SECONDS)
        yield old, new
        for run in both:
            run.uninstall()


def test_both_runs_train_through_upgrades(trained: tuple[Trained, Trained], cluster: Cluster, engine: Engine) -> None:
    before = [one.pods() for one in trained]
    kubeflow_trainer.install(cluster, engine, settings={"controllerThreads": 11})
    operator.install(cluster, engine, settings={"controllerThreads": 11})
    assert [one.pods() for one in trained] == before


def test_without_trainer_its_run_trains_on_and_a_pytorchjob_is_suspended_and_resumed(
    trained: tuple[Trained, Trained], cluster: Cluster, engine: Engine
) -> None:
    old, new = trained
    before = new.pods()
    Helm(cluster.kubeconfig).uninstall(kubeflow_trainer.RELEASE, namespace=kubeflow_trainer.NAMESPACE)
    for on in (True, False):
        old.suspend(on=on)
    assert new.pods() == before
    kubeflow_trainer.install(cluster, engine)
    assert new.pods() == before


def test_without_the_operator_its_run_trains_on_and_a_trainjob_is_suspended_and_resumed(
    trained: tuple[Trained, Trained], cluster: Cluster, engine: Engine
) -> None:
    old, new = trained
    before = old.pods()
    Helm(cluster.kubeconfig).uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
    try:
        for on in (True, False):
            new.suspend(on=on)
        assert old.pods() == before
    finally:
        operator.install(cluster, engine)
    assert old.pods() == before
