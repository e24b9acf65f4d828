"""Every job kind but PyTorchJob on two nodes: its pods form one group, and their framework computes one result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import mpi_operator
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.run import Run

PROGRAMS = "/opt/programs"
Results = list[dict[str, Any]]


@pytest.fixture
def train(cluster: Cluster, engine: Engine, namespace: str) -> Callable[..., Results]:
    """Run a program of a test image to its end, and return the results that its processes print."""

    def run_to_end(
        kind: str, program: str, *, version: str = "v1", place: str = namespace, image: str = "", **settings: object
    ) -> Results:
        release = kind.lower().removesuffix("job")
        run = Run(cluster, engine, place, release, kind=(f"kubeflow.org/{version}", kind), image_name=image)
        given = {"train.script": f"{PROGRAMS}/{program}.py", "train.args": [], "checkpoints.enabled": False}
        run.install(settings={**given, **settings})
        outcome = run.follow()
        run.require_success(outcome)
        run.uninstall()
        return outcome.results

    return run_to_end


@pytest.fixture(scope="module")
def baseline(cluster: Cluster, training_operator: None) -> Iterator[str]:
    """A namespace with Pod Security `baseline`: the init container of an MPIJob v1 has no security context."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name, level="baseline")
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def mpi(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[None]:
    """The MPI operator, which serves MPIJob instead of the training operator."""
    with mpi_operator.installed(cluster, engine):
        yield


def mpi_values(implementation: str) -> dict[str, object]:
    """Return values for one of the image's MPI libraries: mpi4py uses MPICH by default, whichever mpirun starts it."""
    name = implementation.lower()
    return {
        "mpi.implementation": implementation,
        "mpi.command": [f"mpirun.{name}"],
        "env.MPI4PY_MPIABI": name,
    }


def assert_sum_of_all_ranks(results: Results, size: int) -> None:
    """Assert that there are `size` ranks, and that each has the sum of rank + 1 over all ranks."""
    assert sorted(result["rank"] for result in results) == list(range(size))
    assert {(result["size"], result["sum"]) for result in results} == {(size, size * (size + 1) / 2)}


def test_a_jaxjob_sums_across_its_processes(train: Callable[..., Results]) -> None:
    assert_sum_of_all_ranks(train("JAXJob", "jax_sum"), 2)


def test_a_paddlejob_sums_across_its_processes(train: Callable[..., Results]) -> None:
    assert_sum_of_all_ranks(train("PaddleJob", "paddle_sum"), 2)


def test_an_xgboostjob_grows_the_same_trees_in_every_pod_from_all_shards(
    train: Callable[..., Results],
) -> None:
    results = train("XGBoostJob", "xgboost_trees")
    assert sorted((result["rank"], result["size"]) for result in results) == [(0, 2), (1, 2)]
    (together,) = {result["trees"] for result in results}
    alone = {result["alone"] for result in results}
    assert len(alone) == 2
    assert together not in alone


@pytest.mark.parametrize(
    ("settings", "tasks"),
    [
        ({"tensorflow.parameterServers.count": 1}, {"chief/0", "worker/0", "ps/0"}),
        ({"layout": "worker-only"}, {"worker/0", "worker/1"}),
    ],
    ids=["with a parameter server", "workers alone"],
)
def test_every_task_of_a_tfjob_reaches_all_others_at_the_addresses_of_tf_config(
    train: Callable[..., Results], settings: dict[str, object], tasks: set[str]
) -> None:
    results = train("TFJob", "tensorflow_cluster", **settings)
    assert {result["task"]: set(result["heard"]) for result in results} == {task: tasks - {task} for task in tasks}


def test_the_workers_of_a_tfjob_train_one_model(train: Callable[..., Results]) -> None:
    limits = {"cpu": "500m", "memory": "2Gi"}
    settings = {"layout": "worker-only", "resources.limits": limits}
    first, second = train("TFJob", "tensorflow_workers", image="tensorflow", **settings)

    assert {first["task"], second["task"]} == {"worker/0", "worker/1"}
    assert first["size"] == second["size"] == 2
    assert first["losses"] == second["losses"]
    assert first["weights"] == second["weights"]
    for result in (first, second):
        assert result["losses"][-1] < 0.5 * result["losses"][0]
        # Half of a batch in each of two pods gives the same result as the whole batch in one.
        assert result["losses"] == pytest.approx(result["losses_alone"], rel=1e-4)
        assert result["distance"] < 1e-4


def test_an_mpijob_of_the_training_operator_sums_over_kubectl(train: Callable[..., Results], baseline: str) -> None:
    results = train("MPIJob", "mpi_sum", place=baseline, **mpi_values("OpenMPI"))
    assert_sum_of_all_ranks(results, 2)
    assert {result["host"] for result in results} == {"mpi-worker-0", "mpi-worker-1"}


@pytest.mark.alone  # reinstalls the training operator without MPIJob
def test_an_mpijob_of_the_mpi_operator_sums_over_ssh(train: Callable[..., Results], baseline: str, mpi: None) -> None:
    for implementation, library in (("OpenMPI", "Open"), ("MPICH", "MPICH")):
        settings = mpi_values(implementation)
        results = train("MPIJob", "mpi_sum", version="v2beta1", processesPerNode=2, **settings)
        assert_sum_of_all_ranks(results, 4)
        assert {result["library"] for result in results} == {library}
        assert {result["host"] for result in results} == {"mpi-worker-0", "mpi-worker-1"}
    settings = {**mpi_values("OpenMPI"), "mpi.launcher.asWorker": True}
    results = train("MPIJob", "mpi_sum", version="v2beta1", **settings)
    assert_sum_of_all_ranks(results, 2)
    assert {result["host"] for result in results} == {"mpi-launcher", "mpi-worker-0"}
    root = {f"podSecurityContext.{name}": number for name, number in (("runAsUser", 0), ("runAsGroup", 0))}
    settings = (
        mpi_values("OpenMPI") | root | {"podSecurityContext.runAsNonRoot": False, "mpi.ssh.mountPath": "/root/.ssh"}
    )
    results = train("MPIJob", "mpi_sum", version="v2beta1", place=baseline, **settings)
    assert_sum_of_all_ranks(results, 2)
