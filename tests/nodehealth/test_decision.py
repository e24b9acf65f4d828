"""Which nodes go into quarantine, and which leave it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nodehealth.config import Controller, Pool
from nodehealth.control import decision
from nodehealth.control.decision import Action, Judgement, judge
from nodehealth.control.node import TAINT, Node, Record
from nodehealth.keys import QUARANTINED

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SETTINGS = Controller(pools=[Pool("all", {}, 10, 1)])


def healthy(name: str, minutes: float = 60, **fields: object) -> Node:
    """Return a node that has been healthy for so long."""
    return Node(name, "1", status="True", since=NOON - timedelta(minutes=minutes), **fields)  # type: ignore[arg-type]


def sick(name: str, minutes: float = 1, **fields: object) -> Node:
    """Return a node that has been unhealthy for so long."""
    found = healthy(name, minutes, **fields)
    return replace(found, status="False", reason="Xid79", message=f"a GPU of {name} is lost")


def quarantined(node: Node, minutes: float = 120) -> Node:
    """Return the node in quarantine, for so long."""
    labels = {**node.labels, QUARANTINED: "true"}
    return replace(node, labels=labels, taints=(TAINT,), record=Record(NOON - timedelta(minutes=minutes)))


def nodes(count: int, prefix: str = "n") -> list[Node]:
    return [healthy(f"{prefix}{number}") for number in range(count)]


def actions(judged: list[Judgement]) -> list[tuple[str, str]]:
    return [(action.kind, action.node.name) for pool in judged for action in pool.actions]


def one(judged: list[Judgement], kind: str) -> Action:
    (found,) = [action for pool in judged for action in pool.actions if action.kind == kind]
    return found


def test_healthy_and_unknown_nodes_are_left_alone() -> None:
    unknown = Node("u", "1", message="no agent has reported")

    assert actions(judge(SETTINGS, [*nodes(9), unknown], NOON)) == []


def test_a_sick_node_goes_into_quarantine() -> None:
    judged = judge(SETTINGS, [*nodes(9), sick("bad")], NOON)

    assert actions(judged) == [("quarantine", "bad")]
    assert judged[0].states == {
        "healthy": 9,
        "unhealthy": 1,
        "unknown": 0,
        "quarantined": 1,
        "waiting": 0,
        "lost": 0,
        "off": 0,
    }


@pytest.mark.parametrize(
    ("count", "percent", "least", "limit"),
    [(10, 10, 0, 1), (19, 10, 0, 1), (9, 10, 0, 0), (9, 10, 1, 1), (3, 10, 1, 1), (1, 10, 1, 0), (2, 100, 0, 1)],
)
def test_the_limit_is_a_share_and_never_the_last_node(count: int, percent: int, least: int, limit: int) -> None:
    assert decision.limit(Pool("all", {}, percent, least), count) == limit


@pytest.mark.parametrize("ill", range(0, 41, 5))
def test_never_more_than_the_share_is_in_quarantine(ill: int) -> None:
    found = [*nodes(40 - ill), *(sick(f"bad{number}") for number in range(ill))]

    counts = Counter(kind for kind, _ in actions(judge(SETTINGS, found, NOON)))

    assert counts["quarantine"] == min(ill, 4)
    assert counts["wait"] == ill - counts["quarantine"]


def test_the_node_that_fell_ill_first_goes_first_and_the_others_hear_why_they_stay() -> None:
    judged = judge(SETTINGS, [*nodes(8), sick("late", 1), sick("early", 9)], NOON)

    assert actions(judged) == [("quarantine", "early"), ("wait", "late")]
    assert one(judged, "wait").message == (
        "pool all has 1 of at most 1 nodes in quarantine or out of service: "
        "late stays in service though a GPU of late is lost"
    )
    assert judged[0].states["waiting"] == 1


def test_a_limit_that_can_never_be_met_is_told_with_the_one_that_can() -> None:
    settings = replace(SETTINGS, pools=[Pool("all", {}, 10, 0)])

    (judged,) = judge(settings, nodes(4), NOON)
    (alone,) = judge(SETTINGS, nodes(1), NOON)

    assert judged.warnings == [
        "pool all has 4 nodes: 10% of them is less than one node, so none is ever put into quarantine: "
        "write maxPercent: 25, or atLeast: 1"
    ]
    assert "has one node, which is never put into quarantine" in alone.warnings[0]


def test_a_node_is_released_after_it_was_healthy_for_long_enough() -> None:
    soon, done = quarantined(healthy("soon", 9)), quarantined(healthy("done", 11))

    judged = judge(SETTINGS, [*nodes(30), soon, done], NOON)

    assert actions(judged) == [("hold", "soon"), ("release", "done")]
    assert one(judged, "hold").message == "healthy, but not yet for 600 s"


def test_a_node_whose_agent_is_silent_stays_in_quarantine() -> None:
    silent = quarantined(Node("silent", "1", message="no agent has reported"))

    assert actions(judge(SETTINGS, [*nodes(9), silent], NOON)) == [("hold", "silent")]


def test_a_release_makes_room_in_the_same_round() -> None:
    judged = judge(SETTINGS, [*nodes(8), quarantined(healthy("good")), sick("bad")], NOON)

    assert actions(judged) == [("release", "good"), ("quarantine", "bad")]


def test_a_node_that_keeps_falling_ill_waits_for_a_person() -> None:
    times = tuple(NOON - timedelta(hours=hours) for hours in (1, 5, 20))
    flapping = replace(quarantined(healthy("flap")), history=times)
    repaired = replace(flapping, repaired=NOON - timedelta(minutes=30))
    calm = replace(flapping, history=(NOON - timedelta(hours=25), *times[:2]))

    held = judge(SETTINGS, [*nodes(9), flapping], NOON)

    assert actions(held) == [("hold", "flap")]
    assert "in quarantine 3 times in 24 h" in one(held, "hold").message
    assert "kubectl annotate node flap --overwrite trainyard/repaired-at=" in one(held, "hold").message
    for found in (repaired, calm):
        assert actions(judge(SETTINGS, [*nodes(9), found], NOON)) == [("release", "flap")]


def test_an_administrator_keeps_a_node_in_service() -> None:
    kept = replace(sick("kept"), ignored=True)

    assert actions(judge(SETTINGS, [*nodes(9), kept], NOON)) == []
    assert actions(judge(SETTINGS, [*nodes(9), quarantined(kept)], NOON)) == [("release", "kept")]


def test_a_taint_and_a_label_without_a_record_are_an_administrator_s() -> None:
    theirs = replace(quarantined(healthy("theirs")), record=None)

    assert actions(judge(SETTINGS, [*nodes(9), theirs], NOON)) == []


def test_marks_that_another_program_removes_are_restored_three_times_an_hour() -> None:
    bare = replace(quarantined(sick("bad")), taints=())
    assert bare.record is not None
    often = tuple(NOON - timedelta(minutes=minutes) for minutes in (5, 10, 15))
    tired = replace(bare, record=replace(bare.record, restored=often))

    assert actions(judge(SETTINGS, [*nodes(9), bare], NOON)) == [("hold", "bad"), ("restore", "bad")]
    assert decision.restorable(bare.record, NOON)
    assert tired.record is not None
    assert not decision.restorable(tired.record, NOON)
    contested = replace(tired, record=replace(tired.record, contested=True))
    assert actions(judge(SETTINGS, [*nodes(9), contested], NOON)) == [("hold", "bad")]


def test_each_pool_has_its_own_limit_and_a_node_counts_in_the_first() -> None:
    settings = Controller(pools=[Pool("h100", {"gpu": "h100"}, 10, 1), Pool("rest", {}, 10, 1)])
    found = [
        *(replace(node, labels={"gpu": "h100"}) for node in [*nodes(5, "h"), sick("h-bad"), sick("h-bad2")]),
        *nodes(5, "c"),
        sick("c-bad"),
    ]

    assert actions(judge(settings, found, NOON)) == [
        ("quarantine", "h-bad"),
        ("wait", "h-bad2"),
        ("quarantine", "c-bad"),
    ]


def test_a_node_that_left_its_pool_in_quarantine_is_still_released() -> None:
    settings = Controller(pools=[Pool("h100", {"gpu": "h100"})])

    assert actions(judge(settings, [quarantined(healthy("gone")), healthy("other")], NOON)) == [("release", "gone")]
