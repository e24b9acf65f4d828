"""Which silent nodes are taken out of service, and which return. A node that may run is never touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nodehealth.config import Controller, Pool
from nodehealth.control.decision import Action, judge
from nodehealth.control.node import OFF_TAINT, TAINT, Kubelet, Node, Record

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SETTINGS = Controller(
    pools=[Pool("all", {}, 20, 0)],
    off_proofs=["shutdownTaint", "annotation", "time"],
    off_seconds=600,
    return_seconds=60,
)
SHUT_DOWN = {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"}


def ago(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


def ready(name: str, minutes: float = 60, **fields: object) -> Node:
    """Return a node that has been Ready for so long, and whose agent reports."""
    kubelet = Kubelet("True", ago(minutes), ago(1))
    return Node(name, "1", status="True", since=ago(minutes), kubelet=kubelet, beat=NOON, **fields)  # type: ignore[arg-type]


def silent(name: str, minutes: float, **fields: object) -> Node:
    """Return a node whose kubelet has been Unknown for so long, after a last report a minute earlier."""
    node = ready(name, 60, **fields)
    last = ago(minutes + 1)
    return replace(node, status="Unknown", kubelet=Kubelet("Unknown", ago(minutes), last), beat=last)


def off(node: Node) -> Node:
    return replace(node, taints=(*node.taints, OFF_TAINT), outage=True)


def nine() -> list[Node]:
    return [ready(f"n{number}") for number in range(9)]


def actions(*nodes: Node, settings: Controller = SETTINGS) -> list[tuple[str, str]]:
    return [(action.kind, action.node.name) for action in acts(*nodes, settings=settings)]


def acts(*nodes: Node, settings: Controller = SETTINGS) -> list[Action]:
    return [action for pool in judge(settings, [*nine(), *nodes], NOON) for action in pool.actions]


def test_a_node_without_proof_is_told_and_not_touched() -> None:
    (action,) = acts(silent("gone", 600), settings=replace(SETTINGS, off_proofs=[]))

    assert action.kind == "lost"
    assert action.message == (
        "the kubelet is silent since 2026-01-31T02:00:00Z; its pods are not replaced, because they may still run. Once "
        "it is certain that the node is off, run kubectl taint node gone "
        "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    )
    (action,) = acts(silent("gone", 600), settings=replace(SETTINGS, off_proofs=["annotation"]))
    assert "kubectl annotate node gone --overwrite trainyard/powered-off-at=$(date" in action.message


@pytest.mark.parametrize(("minutes", "expected"), [(9, []), (11, [("out", "gone")])])
def test_time_is_a_proof_only_once_it_has_passed(minutes: float, expected: list[tuple[str, str]]) -> None:
    assert actions(silent("gone", minutes)) == expected


def test_a_node_whose_agent_still_reports_runs_whatever_its_kubelet_and_the_proofs_say() -> None:
    running = replace(silent("runs", 60, taints=(SHUT_DOWN,), powered_off=ago(50)), beat=ago(1))

    (action,) = acts(running)

    assert action.kind == "lost"
    assert "the agent reports: the node runs" in action.message


def test_time_is_no_proof_while_the_agent_may_be_about_to_report() -> None:
    settings = replace(SETTINGS, off_proofs=["time"], off_seconds=30, agent_seconds=220)

    assert actions(replace(silent("gone", 1), beat=ago(3)), settings=settings) == []
    assert actions(replace(silent("gone", 1), beat=ago(4)), settings=settings) == [("out", "gone")]


@pytest.mark.parametrize("beat", [None, ago(90)])
def test_time_is_no_proof_without_an_agent_that_reported_until_the_kubelet_fell_silent(beat: datetime | None) -> None:
    settings = replace(SETTINGS, off_proofs=["time"])

    (action,) = acts(replace(silent("gone", 60), beat=beat), settings=settings)

    assert action.kind == "lost"


def test_a_kubelet_that_reports_a_node_as_not_ready_still_runs_its_pods() -> None:
    broken = replace(ready("broken"), kubelet=Kubelet("False", ago(60), ago(1)))

    assert actions(broken) == []


def test_the_statement_of_a_person_or_of_the_cloud_counts_at_once() -> None:
    assert actions(silent("stated", 1, powered_off=ago(0.5))) == [("out", "stated")]
    assert actions(silent("cloud", 1, taints=(SHUT_DOWN,))) == [("out", "cloud")]


def test_a_statement_about_an_earlier_outage_does_not_count() -> None:
    assert actions(silent("again", 1, powered_off=ago(30))) == []


def test_a_statement_about_the_future_does_not_count_yet() -> None:
    assert actions(silent("early", 1, powered_off=NOON + timedelta(days=365))) == []
    assert actions(silent("now", 1, powered_off=NOON)) == [("out", "now")]


def test_a_node_that_is_not_silent_is_not_taken_out_of_service_by_a_statement() -> None:
    assert actions(ready("up", powered_off=NOON), ready("up2", taints=(SHUT_DOWN,))) == []


def test_a_proof_that_the_values_do_not_name_does_not_count() -> None:
    settings = replace(SETTINGS, off_proofs=["time"])

    assert actions(silent("stated", 1, powered_off=ago(0.5), taints=(SHUT_DOWN,)), settings=settings) == []


def test_nodes_that_fall_silent_together_have_rather_lost_their_network() -> None:
    lost = [silent(f"gone{number}", 20) for number in range(4)]

    found = acts(*lost)

    assert {action.kind for action in found} == {"limited"}
    assert found[0].message == (
        "4 nodes of pool all are silent, and its limit is 2: time alone does not prove that gone0 is off"
    )


def test_never_more_than_the_share_is_out_of_service_and_in_quarantine() -> None:
    stated = [silent(f"gone{number}", 20 - number, powered_off=ago(1)) for number in range(3)]
    quarantined = ready("bad", record=Record(ago(5)), taints=(TAINT,), labels={"trainyard/quarantined": "true"})

    assert actions(*stated) == [("out", "gone0"), ("out", "gone1"), ("limited", "gone2")]
    found = actions(*stated, replace(quarantined, status="False"))
    assert [one for one in found if one[0] != "hold"] == [("out", "gone0"), ("limited", "gone1"), ("limited", "gone2")]


def test_a_lost_node_leaves_no_room_for_a_quarantine() -> None:
    bad = replace(ready("bad"), status="False", message="a GPU is lost")

    assert actions(off(silent("gone", 20)), off(silent("gone2", 20)), bad) == [("wait", "bad")]


def test_a_node_in_quarantine_takes_no_further_place_of_the_share() -> None:
    settings = replace(SETTINGS, pools=[Pool("all", {}, 10, 0)])
    lost = silent("bad", 20, record=Record(ago(30)), taints=(TAINT,), labels={"trainyard/quarantined": "true"})

    assert actions(lost, settings=settings) == [("hold", "bad"), ("out", "bad")]


def test_a_node_returns_once_it_was_ready_for_long_enough() -> None:
    assert actions(off(silent("gone", 20))) == []
    assert actions(off(ready("back", 0.5))) == []
    assert actions(off(ready("back", 1.5))) == [("return", "back")]


def test_the_taint_of_an_administrator_is_never_removed_and_counts() -> None:
    theirs = ready("theirs", taints=(OFF_TAINT,))

    assert actions(theirs) == []
    assert actions(theirs, *(silent(f"gone{n}", 1, powered_off=ago(0.5)) for n in range(2))) == [
        ("out", "gone0"),
        ("limited", "gone1"),
    ]


def test_an_administrator_who_removes_the_taint_is_not_overruled() -> None:
    assert actions(replace(silent("gone", 20), outage=True)) == []
    assert actions(replace(silent("gone", 20), ignored=True)) == []
    assert actions(replace(off(silent("gone", 20)), ignored=True)) == [("return", "gone")]


def test_a_node_in_no_pool_is_left_alone_and_still_returns() -> None:
    settings = replace(SETTINGS, pools=[Pool("gpu", {"gpu": "yes"}, 20, 1)])

    assert actions(silent("gone", 20), settings=settings) == []
    assert actions(off(ready("back")), settings=settings) == [("return", "back")]


def test_the_states_tell_lost_nodes_from_those_that_are_out_of_service() -> None:
    settings = replace(SETTINGS, off_proofs=["annotation"])
    nodes = [*nine(), off(silent("off", 20)), silent("stated", 9, powered_off=ago(1)), silent("lost", 30)]

    (pool,) = judge(settings, nodes, NOON)

    assert (pool.states["off"], pool.states["lost"]) == (2, 1)
