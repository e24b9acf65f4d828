"""The bandwidths between pairs of nodes, from the line of JSON that the preflight test prints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from trainyard.document.lookup import items, text


class Cell(NamedTuple):
    """A pair of nodes: GB/s of bus bandwidth, and the share of the fastest pair. Both are None if not measured."""

    bandwidth: float | None = None
    share: float | None = None


class HeatMap(NamedTuple):
    """The result of a preflight test: `rows` has a cell for each node in the order of `nodes`."""

    nodes: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    verdict: str
    faults: tuple[str, ...]
    transport: str


def heat_map(log: str) -> HeatMap | None:
    """Returns the last result in a log, None without one. Times in front of the lines are no hindrance."""
    for line in reversed(log.splitlines()):
        start = line.find('{"nodes"')
        if start >= 0:
            try:
                return _map(json.loads(line[start:]))
            except ValueError:
                # The log ends within the line.
                continue
    return None


def _map(tree: dict[str, Any]) -> HeatMap:
    nodes = tuple(_words(tree.get("nodes")))
    measured = {
        frozenset(_words(pair.get("nodes"))): float(pair["busbw"])
        for pair in items(tree, "pairs")
        if isinstance(pair, dict) and isinstance(pair.get("busbw"), int | float)
    }
    best = max(measured.values(), default=0.0)
    rows = tuple(tuple(_cell(measured.get(frozenset((one, other))), best) for other in nodes) for one in nodes)
    faults, transport = tuple(_words(tree.get("faults"))), ", ".join(_words(tree.get("transport")))
    return HeatMap(nodes, rows, text(tree, "verdict"), faults, transport)


def _cell(bandwidth: float | None, best: float) -> Cell:
    return Cell() if bandwidth is None or not best else Cell(bandwidth, bandwidth / best)


def _words(found: Any) -> Iterable[str]:
    return (str(one) for one in found) if isinstance(found, list) else ()
