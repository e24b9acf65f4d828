"""Reports of the agent to an API server."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nodehealth import agent, condition
from nodehealth.agent import Reporter
from nodehealth.api import ApiError
from nodehealth.config import Agent, Disks, KernelLog, Links
from nodehealth.keys import REPAIRED
from nodehealth.rounds import Rounds
from tests.nodehealth.api_server import ApiServer

FAULTY = ("False", "DiskFull", "disk scratch is full")
HEALTHY = condition.state([], {})


@pytest.fixture
def reporter(server: ApiServer) -> Reporter:
    """The reporter of node a."""
    server.add_node("a")
    made = Reporter(server.client(), "a")
    made.refresh()
    return made


def reported(server: ApiServer) -> dict[str, str]:
    found = condition.of(server.nodes["a"])
    assert found is not None
    return found


def test_the_first_report_sets_the_condition_beside_the_others(server: ApiServer, reporter: Reporter) -> None:
    reporter.report(HEALTHY)

    assert reported(server)["status"] == "True"
    assert [one["type"] for one in server.nodes["a"]["status"]["conditions"]] == ["Ready", "TrainyardHealthy"]
    assert server.events == [("NodeHealthy", "all checks pass")]


def test_an_unchanged_condition_is_not_written_in_each_round(server: ApiServer, reporter: Reporter) -> None:
    for _ in range(5):
        reporter.report(HEALTHY)

    assert sum(request.startswith("PATCH") for request in server.requests) == 1


def test_a_new_agent_keeps_the_time_of_the_fault(server: ApiServer, reporter: Reporter) -> None:
    reporter.report(FAULTY)
    reported(server)["lastTransitionTime"] = "2026-01-31T12:00:00Z"
    server.nodes["a"]["status"]["conditions"][-1]["lastTransitionTime"] = "2026-01-31T12:00:00Z"
    again = Reporter(server.client(), "a")
    again.refresh()
    # Its first round has not confirmed the fault yet.
    again.keep()
    again.report(FAULTY)

    assert reported(server)["status"] == "False"
    assert reported(server)["lastTransitionTime"] == "2026-01-31T12:00:00Z"
    assert server.events == [("NodeUnhealthy", "disk scratch is full")]


def test_an_administrator_s_repair_is_read_while_the_node_is_unhealthy(server: ApiServer, reporter: Reporter) -> None:
    reporter.report(FAULTY)
    server.merge("a", {"metadata": {"annotations": {REPAIRED: "2026-01-31T12:00:00Z"}}})
    reporter.report(FAULTY)

    assert reporter.repaired() == datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_report_that_fails_is_an_error_of_the_api(server: ApiServer, reporter: Reporter) -> None:
    server.broken = True

    with pytest.raises(ApiError, match="etcd is down"):
        reporter.report(FAULTY)


def test_the_enabled_checks_run_on_imitated_sources(server: ApiServer, reporter: Reporter, tmp_path: Path) -> None:
    (tmp_path / "kmsg").write_text("3,1,1,-;NVRM: Xid (PCI:0000:10:1c): 79, GPU has fallen off the bus.\n")
    settings = Agent(
        node="a",
        sysfs=str(tmp_path / "sys"),
        kernel_log=str(tmp_path / "kmsg"),
        state=str(tmp_path / "state"),
        xid=KernelLog(xids=[79]),
        links=Links(expected=["mlx5_0"]),
        disks=Disks(paths={"scratch": str(tmp_path)}, min_free_percent=0),
    )

    found = Rounds(agent.checks(settings, reporter, None), timeout=10).run()

    assert [fault.reason for fault in found.faults] == ["Xid79", "LinkMissing"]
    assert found.unknown == {}
    assert json.dumps(found.seconds)
