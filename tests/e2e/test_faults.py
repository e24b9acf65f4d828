"""Faults during one run, one after the other: a short version of `make faults`, without the stock PyTorchJob."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import operator
from tools.faults import faults
from tools.faults.control_plane import stop_api
from tools.faults.faults import Fault
from tools.faults.measure import inject_and_measure
from tools.faults.runners import RUNNERS, SAVE_STEPS
from tools.faults.sandbox import Sandbox, create_sandbox, remove_leftovers
from tools.faults.storage import fill_volume

# The operator and the API server are stopped, which other tests need.
pytestmark = pytest.mark.alone

OURS = RUNNERS["ours"]


@pytest.fixture(scope="module")
def sandbox(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[Sandbox]:
    """A sandbox with a run of two pods, whose checkpoint volume can be filled."""
    with create_sandbox(cluster, engine, local="tmpfs") as created:
        OURS.install(created)
        yield created
    # The operator restarts after a long outage of the API server.
    operator.wait_available(cluster)


@pytest.mark.parametrize(
    "fault",
    [
        faults.OPERATOR_KILLED,
        Fault("api-gone", "API server gone for 10 s", stop_api(10)),
        Fault("volume-full", "volume full for 10 s", fill_volume(10), local="tmpfs"),
    ],
    ids=lambda fault: fault.name,
)
def test_a_run_continues_without_the_operator_the_api_server_or_free_space(sandbox: Sandbox, fault: Fault) -> None:
    result = inject_and_measure(sandbox, fault, OURS)

    assert result.reason == ""
    assert (result.restarts, result.steps_lost) == (0, 0)
    assert result.saved_after


def test_a_run_resumes_in_place_from_its_last_checkpoint_when_a_rank_is_killed(sandbox: Sandbox) -> None:
    result = inject_and_measure(sandbox, faults.RANK_KILLED, OURS)

    assert result.reason == ""
    assert result.restarts == 1
    for pod in (OURS.rendezvous_pod, OURS.other_pod):
        assert "starts again in its place" in sandbox.kubectl("logs", pod)
    # A save in progress is lost with the rank, so the previous checkpoint counts.
    assert result.steps_lost < 2 * SAVE_STEPS
    assert result.end == "running"


def test_the_other_pod_goes_on_in_place_when_the_one_with_the_store_is_killed(sandbox: Sandbox) -> None:
    result = inject_and_measure(sandbox, faults.STORE_KILLED, OURS)

    assert result.reason == ""
    assert result.steps_lost == 0
    assert "1 of 2 nodes are gone: starts again in its place" in sandbox.kubectl("logs", OURS.other_pod)
    restarts = "--output=jsonpath={.status.containerStatuses[0].restartCount}"
    if sandbox.kubectl("get", "pod", OURS.other_pod, restarts) != "0":
        pytest.fail(f"{OURS.other_pod} restarted:\n{sandbox.kubectl('logs', '--previous', OURS.other_pod)}")


@pytest.mark.parametrize(
    "fault",
    [faults.POD_DELETED, faults.POD_EVICTED, faults.POD_KILLED, faults.STORE_DELETED],
    ids=lambda fault: fault.name,
)
def test_no_step_is_lost_with_a_pod_and_its_successor_joins(sandbox: Sandbox, fault: Fault) -> None:
    result = inject_and_measure(sandbox, fault, OURS)

    assert result.noticed
    assert (result.reason, result.steps_lost, result.end) == ("", 0, "running")


def test_the_run_of_an_interrupted_measurement_is_removed(cluster: Cluster, engine: Engine, sandbox: Sandbox) -> None:
    assert sandbox.kubectl("get", "pods", "--output=name")

    remove_leftovers(cluster, engine)

    assert not sandbox.kubectl("get", "pods", "--output=name")
    sandbox.on_node(sandbox.local_node, "sh", "-c", f"! mountpoint -q {sandbox.local_folder}")
