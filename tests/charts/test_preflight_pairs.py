"""The search for slow nodes, in networks where the bandwidth of a pair is that of its slower node."""

from __future__ import annotations

from dataclasses import dataclass, field

import pairs
from hypothesis import given
from hypothesis import strategies as st

RATIO = 0.5


@dataclass
class Network:
    """Nodes by their bandwidth, and the rounds of measurements."""

    nodes: list[float]
    rounds: list[list[pairs.Pair]] = field(default_factory=list)

    def measure(self, asked: list[pairs.Pair]) -> pairs.Bandwidths:
        """Return the bandwidth of each pair; pairs measured at the same time must not share a node."""
        flat = [node for pair in asked for node in pair]
        assert len(flat) == len(set(flat))
        assert all(0 <= one < other < len(self.nodes) for one, other in asked)
        self.rounds.append(asked)
        return {(one, other): min(self.nodes[one], self.nodes[other]) for one, other in asked}

    def slow(self) -> list[int]:
        """Return the slow nodes that the search finds."""
        return list(pairs.slow(pairs.search(len(self.nodes), self.measure, RATIO), RATIO))


@st.composite
def networks(draw: st.DrawFn, most_slow: int) -> tuple[list[float], set[int]]:
    """Draw bandwidths of 2 to 64 nodes and the set of slow nodes; the good ones differ slightly."""
    count = draw(st.integers(2, 64))
    slow = draw(st.sets(st.integers(0, count - 1), max_size=most_slow))
    good, bad = st.floats(0.8, 1.0), st.floats(0.01, 0.35)
    return [draw(bad if node in slow else good) for node in range(count)], slow


@given(networks(most_slow=2))
def test_up_to_two_slow_nodes_are_named_and_nobody_else_while_two_are_good(drawn: tuple[list[float], set[int]]) -> None:
    nodes, slow = drawn
    network = Network(nodes)

    found = network.slow()

    if len(nodes) - len(slow) >= 2:
        assert set(found) == slow
        # The slowest comes first.
        assert [nodes[node] for node in found] == sorted(nodes[node] for node in found)
        # The last nodes may have no neighbour at first: then a further round pairs them with good ones.
        assert len(network.rounds) <= pairs.FIRST_ROUNDS + 2
    assert set(found) <= slow


@given(networks(most_slow=64))
def test_a_good_node_is_never_named_however_many_are_slow(drawn: tuple[list[float], set[int]]) -> None:
    nodes, slow = drawn
    network = Network(nodes)

    assert set(network.slow()) <= slow
    assert len(network.rounds) <= pairs.FIRST_ROUNDS + pairs.PARTING_ROUNDS


@given(networks(most_slow=64))
def test_every_node_is_either_good_slow_or_unknown(drawn: tuple[list[float], set[int]]) -> None:
    nodes, _ = drawn
    measured = pairs.search(len(nodes), Network(nodes).measure, RATIO)

    named = [pairs.good_nodes(measured, RATIO), set(pairs.slow(measured, RATIO))]
    named.append(set(pairs.unknown(len(nodes), measured, RATIO)))

    assert set().union(*named) == set(range(len(nodes)))
    assert sum(map(len, named)) == len(nodes)


def test_one_slow_node_of_three_is_named_by_the_two_others() -> None:
    network = Network([1.0, 0.1, 1.0])

    assert pairs.slow(pairs.search(3, network.measure, RATIO), RATIO) == {1: [0, 2]}
    assert network.rounds == [[(0, 1)], [(0, 2)], [(1, 2)]]


def test_with_two_nodes_neither_is_named() -> None:
    assert Network([1.0, 0.1]).slow() == []


def test_a_single_node_is_not_measured() -> None:
    network = Network([1.0])

    assert network.slow() == []
    assert network.rounds == []


def test_a_slow_path_between_two_good_nodes_names_neither() -> None:
    def measure(asked: list[pairs.Pair]) -> pairs.Bandwidths:
        return {pair: 0.1 if pair == (0, 1) else 1.0 for pair in asked}

    assert pairs.slow(pairs.search(4, measure, RATIO), RATIO) == {}
