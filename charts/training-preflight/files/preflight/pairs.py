"""Finds slow nodes by the bandwidth between two nodes at a time. The pairs of a round share no node.

A slow node is slow with every partner, and a good node only with a slow one. Neighbours are measured first. A node that
was slow there is then separated from its partners: it is measured with nodes that were fast with another one. The best
pair defines "slow", so the search needs no figures of the hardware. It finds nothing if no two nodes are good, or if
all are equally slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

# Numbers of two nodes, the smaller first, and the bandwidth of each pair.
Pair = tuple[int, int]
Bandwidths = dict[Pair, float]

# Every node is paired with three neighbours, which covers all pairs of four nodes: two slow nodes leave two good ones.
FIRST_ROUNDS = 3
# A limit, because if nearly all nodes are slow, pairing them with the few good ones takes hours.
PARTING_ROUNDS = 16


def search(count: int, measure: Callable[[list[Pair]], Bandwidths], ratio: float) -> Bandwidths:
    """Measures pairs until every node has a verdict, and returns them.

    `measure` takes pairs that share no node and measures them in parallel. A pair below `ratio` of the best is slow.
    """
    measured: Bandwidths = {}
    for pairs in first_rounds(count):
        measured.update(measure(pairs))
    for _ in range(PARTING_ROUNDS):
        pairs = parting_round(count, measured, ratio)
        if not pairs:
            break
        measured.update(measure(pairs))
    return measured


def first_rounds(count: int) -> Iterator[list[Pair]]:
    """Yields each node with its neighbours: 0 and 1, 2 and 3, then 0 and 2, 1 and 3, then 0 and 3, 1 and 2."""
    for distance in range(1, FIRST_ROUNDS + 1):
        pairs = [(node, node ^ distance) for node in range(count) if node < node ^ distance < count]
        if pairs:
            yield pairs


def parting_round(count: int, measured: Bandwidths, ratio: float) -> list[Pair]:
    """Returns the next pairs: each node without a verdict with the nearest good one; none if all have a verdict."""
    good = good_nodes(measured, ratio)
    known = good | set(slow(measured, ratio))
    free = set(good)
    pairs = []
    for node in range(count):
        partners = [other for other in free if _pair(node, other) not in measured]
        if node not in known and partners:
            partner = min(partners, key=lambda other: (abs(other - node), other))
            free.remove(partner)
            pairs.append(_pair(node, partner))
    return pairs


def good_nodes(measured: Bandwidths, ratio: float) -> set[int]:
    """Returns nodes that were fast in at least one pair."""
    least = ratio * max(measured.values(), default=0.0)
    return {node for pair, bandwidth in measured.items() if bandwidth >= least for node in pair}


def slow(measured: Bandwidths, ratio: float) -> dict[int, list[int]]:
    """Returns nodes that were slow with at least two good ones, which are their evidence; the slowest node first."""
    good = good_nodes(measured, ratio)
    met: dict[int, list[int]] = {}
    for one, other in measured:
        for node, partner in ((one, other), (other, one)):
            if node not in good and partner in good:
                met.setdefault(node, []).append(partner)
    found = {node: sorted(partners) for node, partners in met.items() if len(partners) > 1}
    return dict(sorted(found.items(), key=lambda item: max(measured[_pair(item[0], other)] for other in item[1])))


def unknown(count: int, measured: Bandwidths, ratio: float) -> list[int]:
    """Returns nodes that the measured pairs prove neither good nor slow."""
    return sorted(set(range(count)) - good_nodes(measured, ratio) - set(slow(measured, ratio)))


def _pair(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)
