"""The matrix of a preflight test, from its log."""

from __future__ import annotations

import pytest

from tests.validator.report.test_history import LOGS
from trainyard.commands.report.heat_map import heat_map

LOG = (LOGS / "preflight.log").read_text()


@pytest.mark.parametrize("log", [LOG, "".join(f"2026-11-25T14:40:52Z {line}\n" for line in LOG.splitlines())])
def test_each_pair_is_measured_in_both_cells(log: str) -> None:
    found = heat_map(log)
    assert found is not None
    assert (found.nodes, found.verdict, found.transport) == (("node-a", "node-b", "node-c"), "failed", "tcp/eth0")
    assert [[cell.bandwidth for cell in row] for row in found.rows] == [
        [None, 2.4, 0.61],
        [2.4, None, 0.63],
        [0.61, 0.63, None],
    ]
    assert found.rows[0][1].share == 1.0


@pytest.mark.parametrize("log", ["", "step=1/2", LOG[: LOG.index("pairs")], '{"nodes"', "[]"])
def test_a_log_without_a_whole_result_has_none(log: str) -> None:
    assert heat_map(log) is None


def test_an_unexpected_result_is_shown_as_far_as_it_goes() -> None:
    found = heat_map(
        '{"nodes": ["a", "b"], "pairs": [{"nodes": null, "busbw": 1}, 3, {"nodes": ["a"]}], "faults": "x"}'
    )
    assert found is not None
    assert (found.nodes, found.faults) == (("a", "b"), ())
    assert {cell.bandwidth for row in found.rows for cell in row} == {None}
