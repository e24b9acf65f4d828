"""Rounds of the controller against an API server."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nodehealth.api import ApiError
from nodehealth.clock import now, text
from nodehealth.config import Controller, Pool
from nodehealth.control.controller import Loop
from nodehealth.keys import HISTORY, OUT_OF_SERVICE, OUTAGE, POWERED_OFF, QUARANTINED, RECORD
from tests.nodehealth.api_server import ApiServer

RUN = {"training.kubeflow.org/job-name": "llm"}
SETTINGS = Controller(healthy_seconds=60, pod_selectors=list(RUN), pools=[Pool("all", {}, 34, 0)])
THEIRS = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def condition(status: str, minutes: float = 5) -> dict[str, str]:
    """Return the fields of a condition that an agent has just confirmed."""
    since = text(now() - timedelta(minutes=minutes))
    reason, message = ("NoFaults", "all checks pass") if status == "True" else ("Xid79", "a GPU is lost")
    beat = text(now())
    return {"reason": reason, "message": message, "lastTransitionTime": since, "lastHeartbeatTime": beat}


def set_health(server: ApiServer, name: str, status: str, minutes: float = 5) -> None:
    """Set the condition of a node, as its agent does."""
    new = {"type": "TrainyardHealthy", "status": status, **condition(status, minutes)}
    server.set_conditions(name, {"status": {"conditions": [new]}})


@pytest.fixture
def loop(server: ApiServer) -> Loop:
    """The controller of a cluster of three healthy nodes, one of which may be in quarantine."""
    for name in ("a", "b", "c"):
        server.add_node(name, "True", **condition("True"))
    return Loop(SETTINGS, server.client(), "trainyard/node-health")


def marks(server: ApiServer, name: str) -> tuple[bool, list[str]]:
    """Return if a node has the label, and the keys of its taints."""
    node = server.nodes[name]
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    return QUARANTINED in node["metadata"]["labels"], taints


def reasons(server: ApiServer) -> list[str]:
    return [reason for reason, _ in server.events]


def test_a_cluster_in_good_health_is_only_read(server: ApiServer, loop: Loop) -> None:
    loop.round()
    loop.round()

    assert server.requests == ["GET /api/v1/nodes"] * 2


def test_a_node_goes_into_quarantine_and_comes_back(server: ApiServer, loop: Loop) -> None:
    server.nodes["a"]["spec"]["taints"] = [THEIRS]
    set_health(server, "a", "False")
    loop.round()

    assert marks(server, "a") == (True, ["nvidia.com/gpu", QUARANTINED])
    record = json.loads(server.nodes["a"]["metadata"]["annotations"][RECORD])
    assert (record["reason"], record["by"]) == ("Xid79", "trainyard/node-health")

    set_health(server, "a", "True", minutes=0.5)
    loop.round()
    assert marks(server, "a") == (True, ["nvidia.com/gpu", QUARANTINED])
    set_health(server, "a", "True", minutes=1.5)
    loop.round()

    assert marks(server, "a") == (False, ["nvidia.com/gpu"])
    assert RECORD not in server.nodes["a"]["metadata"]["annotations"]
    assert len(json.loads(server.nodes["a"]["metadata"]["annotations"][HISTORY])) == 1
    assert reasons(server) == ["Quarantined", "QuarantineHeld", "Released"]


def test_a_cordon_of_an_administrator_is_never_changed(server: ApiServer, loop: Loop) -> None:
    server.nodes["a"]["spec"]["unschedulable"] = True
    set_health(server, "a", "False")
    loop.round()
    set_health(server, "a", "True")
    loop.round()

    assert marks(server, "a") == (False, [])
    assert server.nodes["a"]["spec"]["unschedulable"] is True


def test_the_pods_of_runs_are_evicted_and_no_others(server: ApiServer, loop: Loop) -> None:
    server.add_pod("vision/llm-worker-0", "a", RUN)
    server.add_pod("vision/llm-worker-1", "b", RUN)
    server.add_pod("vision/notebook", "a", {"app": "notebook"})
    server.add_pod("vision/odd", "a", RUN, owner="DaemonSet")
    set_health(server, "a", "False")
    loop.round()
    loop.round()

    assert sorted(server.pods) == ["vision/llm-worker-1", "vision/notebook", "vision/odd"]
    assert reasons(server) == ["Quarantined", "Evicted"]


def test_a_pod_that_a_budget_keeps_is_told_once_and_tried_again(server: ApiServer, loop: Loop) -> None:
    server.add_pod("vision/llm-worker-0", "a", RUN)
    server.guarded.add("vision/llm-worker-0")
    set_health(server, "a", "False")
    for _ in range(4):
        loop.round()
    assert reasons(server) == ["Quarantined", "EvictionFailed"]

    server.guarded.clear()
    loop.round()

    assert not server.pods


def test_no_pod_is_evicted_from_a_node_that_the_limit_keeps_in_service(server: ApiServer, loop: Loop) -> None:
    server.add_pod("vision/llm-worker-1", "b", RUN)
    set_health(server, "a", "False", minutes=9)
    set_health(server, "b", "False", minutes=1)
    for _ in range(3):
        loop.round()

    assert marks(server, "b") == (False, [])
    assert "vision/llm-worker-1" in server.pods
    assert reasons(server) == ["Quarantined", "QuarantineLimit"]


def test_a_change_by_somebody_else_is_not_overwritten(server: ApiServer, loop: Loop) -> None:
    set_health(server, "a", "False")
    read = server.client().nodes()
    server.merge("a", {"spec": {"taints": [THEIRS]}})
    # The round decides on what was read before that change.
    loop._api.nodes = lambda: read  # type: ignore[method-assign]
    loop.round()

    assert marks(server, "a") == (False, ["nvidia.com/gpu"])
    assert server.events == []


def test_a_label_loop_ends_with_a_message(server: ApiServer, loop: Loop) -> None:
    set_health(server, "a", "False")
    loop.round()
    for _ in range(6):
        server.merge("a", {"metadata": {"labels": {QUARANTINED: None}}, "spec": {"taints": None}})
        loop.round()

    assert reasons(server) == ["Quarantined", *["QuarantineRestored"] * 3, "QuarantineContested"]
    assert "Find who writes them" in server.events[-1][1]
    assert marks(server, "a") == (False, [])


def test_a_damaged_record_is_still_the_controller_s_own(server: ApiServer, loop: Loop) -> None:
    set_health(server, "a", "False")
    loop.round()
    server.nodes["a"]["metadata"]["annotations"][RECORD] = "{"
    set_health(server, "a", "True")
    loop.round()

    assert marks(server, "a") == (False, [])


def test_a_condition_without_a_heartbeat_is_no_reason_for_a_quarantine(server: ApiServer, loop: Loop) -> None:
    set_health(server, "a", "False")
    server.nodes["a"]["status"]["conditions"][-1]["lastHeartbeatTime"] = text(now() - timedelta(minutes=6))

    (pool,) = loop.round()

    assert pool.states["unknown"] == 1
    assert marks(server, "a") == (False, [])


def test_an_api_server_that_fails_changes_nothing(server: ApiServer, loop: Loop) -> None:
    server.broken = True

    with pytest.raises(ApiError, match="etcd is down"):
        loop.round()


def test_an_api_server_that_is_gone_is_one_line(server: ApiServer, loop: Loop) -> None:
    server.stop()

    with pytest.raises(ApiError, match="the API server does not answer"):
        loop.round()


def set_ready(server: ApiServer, name: str, status: str, minutes: float) -> None:
    """Set the condition of the kubelet, which has not reported since."""
    since = text(now() - timedelta(minutes=minutes))
    new = {"type": "Ready", "status": status, "lastTransitionTime": since, "lastHeartbeatTime": since}
    server.set_conditions(name, {"status": {"conditions": [new]}})


def test_a_node_that_is_off_goes_out_of_service_and_returns(server: ApiServer, loop: Loop) -> None:
    loop._settings = replace(SETTINGS, off_proofs=["annotation"])
    server.nodes["a"]["spec"]["taints"] = [THEIRS]
    server.nodes["a"]["status"]["conditions"][-1]["lastHeartbeatTime"] = text(now() - timedelta(minutes=9))
    set_ready(server, "a", "Unknown", 8)
    loop.round()
    loop.round()
    assert marks(server, "a") == (False, ["nvidia.com/gpu"])

    server.merge("a", {"metadata": {"annotations": {POWERED_OFF: text(now())}}})
    loop.round()
    loop.round()
    assert marks(server, "a") == (False, ["nvidia.com/gpu", OUT_OF_SERVICE])
    record = json.loads(server.nodes["a"]["metadata"]["annotations"][OUTAGE])
    assert record["by"] == "trainyard/node-health"
    assert POWERED_OFF in record["proof"]

    set_ready(server, "a", "True", 2)
    loop.round()
    loop.round()
    assert marks(server, "a") == (False, ["nvidia.com/gpu"])
    assert not {OUTAGE, POWERED_OFF} & set(server.nodes["a"]["metadata"]["annotations"])
    assert reasons(server) == ["NodeLost", "OutOfService", "Returned"]


def test_a_node_that_returns_as_it_is_judged_is_not_touched(server: ApiServer, loop: Loop) -> None:
    loop._settings = replace(SETTINGS, off_proofs=["time"])
    server.nodes["a"]["status"]["conditions"][-1]["lastHeartbeatTime"] = text(now() - timedelta(minutes=22))
    set_ready(server, "a", "Unknown", 20)
    read = server.client().nodes()
    set_ready(server, "a", "True", 0)
    server.merge("a", {})
    loop._api.nodes = lambda: read  # type: ignore[method-assign]
    loop.round()

    assert marks(server, "a") == (False, [])
    assert server.events == []
