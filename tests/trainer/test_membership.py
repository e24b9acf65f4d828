"""The nodes of an elastic run that respond, and those that go on."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import pytest
from torch.distributed import HashStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from trainer.runtime import membership
from trainer.runtime.launch import OUTLIVES_STORE, Launch
from trainer.runtime.membership import Membership, launch_of

LOST_SECONDS = 10.0
HOST = "localhost"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """The time of the test."""
        return self.now


class Nodes:
    """The first supervisors of three nodes with two ranks each, of which two nodes are enough."""

    def __init__(self, clock: Clock, leader: int = 0) -> None:
        self._clock = clock
        self._leader = leader
        self.store = store = HashStore()
        launches = [
            Launch(rank=2 * node, local_size=2, size=6, nodes=3, min_nodes=2, launched=True) for node in range(3)
        ]
        self.members = [Membership(store, HOST, launch, LOST_SECONDS, leader) for launch in launches]

    def go_on(
        self,
        seconds: float,
        *,
        beating: tuple[int, ...] = (0, 1, 2),
        failed: bool = False,
        leaving: tuple[int, ...] = (),
    ) -> list[int] | None:
        """Lets `beating` nodes send heartbeats for some seconds; returns what the last node then knows."""
        for _ in range(int(seconds / membership.HEARTBEAT_SECONDS)):
            self._clock.now += membership.HEARTBEAT_SECONDS
            for node in beating:
                self.members[node].beat(leaving=node in leaving)
            self.members[self._leader].survivors(failed=failed)
        return self.members[2].survivors(failed=failed)

    def close(self) -> None:
        """Ends all supervisors."""
        for member in self.members:
            member.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(membership, "time", clock)
    return clock


@pytest.fixture
def nodes(clock: Clock) -> Iterator[Nodes]:
    with closing(Nodes(clock)) as nodes:
        yield nodes


@pytest.fixture
def second(clock: Clock) -> Iterator[Nodes]:
    """The same nodes in the store of the second one."""
    with closing(Nodes(clock, leader=1)) as nodes:
        yield nodes


def test_all_nodes_are_needed_as_long_as_they_respond(nodes: Nodes) -> None:
    assert nodes.go_on(60) is None
    assert nodes.go_on(60, failed=True) is None, "a rank that fails by itself is no lost node"


def test_a_silent_node_is_gone_after_the_limit(nodes: Nodes) -> None:
    assert nodes.go_on(LOST_SECONDS - 1, beating=(0, 2)) is None
    assert nodes.go_on(2, beating=(0, 2)) == [0, 2]


def test_a_silent_node_is_gone_in_a_moment_when_a_rank_has_failed(nodes: Nodes) -> None:
    assert nodes.go_on(1, beating=(0, 2), failed=True) is None
    assert nodes.go_on(1, beating=(0, 2), failed=True) == [0, 2]


@pytest.mark.parametrize(("goodbye", "survivors"), [(b"", [0, 2]), (b".", None)])
def test_a_killed_node_is_gone_at_once_when_a_rank_has_failed(
    nodes: Nodes, goodbye: bytes, survivors: list[int] | None
) -> None:
    with socket.create_connection((HOST, int(nodes.store.get("port")))) as connection:
        connection.sendall(b"1 " + goodbye)
    assert nodes.go_on(60) is None
    assert nodes.go_on(0.25, failed=True) == survivors


def test_a_node_that_leaves_is_needed_until_the_ranks_have_saved(nodes: Nodes) -> None:
    assert nodes.go_on(5, leaving=(1,)) is None
    assert nodes.go_on(0.5, leaving=(1,), failed=True) == [0, 2]


def test_nothing_is_decided_if_too_few_nodes_are_left(nodes: Nodes) -> None:
    assert nodes.go_on(60, beating=(0,), failed=True) is None


def test_nothing_is_decided_by_a_node_that_leaves(nodes: Nodes) -> None:
    assert nodes.go_on(60, beating=(0, 2), leaving=(0,), failed=True) is None


def test_a_pause_of_the_deciding_node_is_no_silence_of_the_others(nodes: Nodes, clock: Clock) -> None:
    nodes.go_on(1)
    clock.now += 10 * LOST_SECONDS
    assert nodes.members[0].survivors(failed=True) is None
    assert nodes.go_on(1, failed=True) is None


def test_the_decision_holds_when_the_node_is_back(nodes: Nodes) -> None:
    nodes.go_on(LOST_SECONDS + 1, beating=(0, 2))
    assert nodes.go_on(5) == [0, 2]


def test_the_second_node_decides_to_go_on_without_the_first_some_time_after_the_limit(second: Nodes) -> None:
    second.go_on(1)
    assert second.go_on(LOST_SECONDS + 0.5, beating=(1, 2)) is None, "the first node would go on by itself"
    assert second.go_on(0.5, beating=(1, 2)) == [1, 2]


def test_the_second_node_decides_in_a_moment_when_a_rank_has_failed(second: Nodes) -> None:
    second.go_on(1)
    assert second.go_on(2, beating=(1, 2), failed=True) == [1, 2]


def test_the_second_node_decides_when_the_first_leaves_and_the_ranks_have_saved(second: Nodes) -> None:
    assert second.go_on(5, leaving=(0,)) is None
    assert second.go_on(0.5, leaving=(0,), failed=True) == [1, 2]


def test_the_second_node_decides_nothing_while_the_first_responds(second: Nodes) -> None:
    assert second.go_on(60, beating=(0, 1), failed=True) is None


def test_the_second_node_decides_nothing_before_the_first_has_found_its_store(second: Nodes) -> None:
    assert second.go_on(60, beating=(1, 2), failed=True) is None


def test_the_second_node_decides_nothing_when_it_leaves(second: Nodes) -> None:
    second.go_on(1)
    assert second.go_on(60, beating=(1, 2), leaving=(1,), failed=True) is None


def test_a_limit_of_zero_waits_for_a_failure(clock: Clock) -> None:
    store = HashStore()
    launch = Launch(size=2, nodes=2, min_nodes=1, launched=True)
    members = Membership(store, HOST, launch, 0.0)
    members.close()
    for _ in range(1000):
        clock.now += membership.HEARTBEAT_SECONDS
        members.beat(leaving=False)
        assert members.survivors(failed=False) is None


@pytest.mark.parametrize(("rank", "new"), [(0, 0), (1, 1), (4, 2), (5, 3)])
def test_the_ranks_of_the_nodes_that_are_left_are_consecutive(rank: int, new: int) -> None:
    launch = Launch(rank=rank, local_rank=rank % 2, local_size=2, size=6, nodes=3, min_nodes=2, launched=True)
    following = launch_of([0, 2], launch)
    assert (following.rank, following.size, following.nodes) == (new, 4, 2)
    variables: dict[str, str] = {}
    following.export(variables)
    assert variables == {
        "RANK": str(new),
        "WORLD_SIZE": "4",
        "GROUP_RANK": str(new // 2),
        "GROUP_WORLD_SIZE": "2",
    }
    replace(following, master_addr="10.0.0.2", master_port=4711).export(variables)
    assert (variables["MASTER_ADDR"], variables["MASTER_PORT"]) == ("10.0.0.2", "4711")


@pytest.mark.parametrize(
    ("variables", "is_elastic"),
    [
        ({"PET_NNODES": "1:2"}, True),
        ({"PET_NNODES": "2"}, False),
        ({"PET_NNODES": "2:2"}, False),
        ({"PET_NNODES": "x:2"}, False),
        ({}, False),
        ({"PET_NNODES": "1:2", "LOCAL_WORLD_SIZE": "2"}, False),
    ],
)
def test_a_launch_is_elastic_if_it_can_go_on_with_fewer_equal_nodes(
    variables: Mapping[str, str], *, is_elastic: bool
) -> None:
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1", "GROUP_WORLD_SIZE": "2"}
    assert Launch.from_environment({**launch, **variables}).is_elastic is is_elastic


@pytest.mark.parametrize(
    ("variables", "has_backup"),
    [({"PET_NNODES": "1:2"}, True), ({"PET_NNODES": "2"}, False), ({"PET_NNODES": "2:2"}, False)],
)
def test_an_elastic_run_has_a_second_store_if_its_agents_outlive_the_first(
    variables: Mapping[str, str], *, has_backup: bool
) -> None:
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1", "GROUP_WORLD_SIZE": "2"}
    assert not Launch.from_environment({**launch, **variables}).has_backup
    assert Launch.from_environment({**launch, **variables, OUTLIVES_STORE: "1"}).has_backup is has_backup
