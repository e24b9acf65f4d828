"""Faults under one run, one after the other: what `make faults` measures at length beside a stock PyTorchJob."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.faults import faults
from tests.faults.faults import Fault
from tests.faults.measure import strike
from tests.faults.runners import RUNNERS, SAVE_STEPS
from tests.faults.site import Site, site
from tests.jobs import operator

# The operator and the API server go away, which other tests need.
pytestmark = pytest.mark.alone

OURS = RUNNERS["ours"]


@pytest.fixture(scope="module")
def place(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[Site]:
    """Where a run of two pods trains, and saves to a volume that can be filled."""
    with site(cluster, engine, small=True) as place:
        OURS.install(place)
        yield place
    # It starts anew when it has lost the API server for long.
    operator.wait_available(cluster)


@pytest.mark.parametrize(
    "fault",
    [
        faults.OPERATOR_KILLED,
        Fault("api-gone", "API server gone for 10 s", faults.stop_api(10)),
        Fault("volume-full", "volume full for 10 s", faults.fill_volume(10), small=True),
    ],
    ids=lambda fault: fault.name,
)
def test_a_run_trains_on_while_what_it_does_not_need_is_gone(place: Site, fault: Fault) -> None:
    result = strike(place, fault, OURS)

    assert result.reason == ""
    assert (result.restarts, result.steps_lost) == (0, 0)
    assert result.saved_after


def test_a_run_goes_on_from_its_last_checkpoint_without_torchrun_when_a_rank_is_killed(place: Site) -> None:
    result = strike(place, faults.RANK_KILLED, OURS)

    assert result.reason == ""
    assert result.restarts == 1
    for pod in (OURS.meeting, OURS.other):
        assert "starts again in its place" in place.kubectl("logs", pod)
    # A save that was under way is lost with the rank, and the one before it counts.
    assert result.steps_lost < 2 * SAVE_STEPS
    assert result.end == "running"
