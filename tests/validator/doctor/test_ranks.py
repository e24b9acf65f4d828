"""The first failure of a run of four ranks on two nodes, in each form that its logs have.

Rank 2 may not write a checkpoint; the others lose it and fail seconds later. torchrun wrote the logs, with gloo.
`by-node` is the output of both pods (`--tee 3`), and `by-rank` has the files of `--log-dir`. `merged` mixes both pods
line by line, with the prefix of `kubectl logs --prefix`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.doctor.diagnosis import Diagnosis, diagnose

RANKS = Path(__file__).parent / "ranks"


def _names(result: Diagnosis) -> list[str]:
    return [evidence.cause.name for evidence in result.causes]


@pytest.mark.parametrize("form", ["by-node", "by-rank", "merged"])
def test_the_rank_that_failed_first_is_told_apart_from_those_it_took_down(form: str) -> None:
    result = diagnose([str(RANKS / form)])
    assert _names(result) == ["permission-denied"]
    assert [evidence.cause.name for evidence in result.consequences] == ["gloo-peer-closed"]
    assert result.first is not None
    assert result.first.origin == "rank 2"
    assert sorted(result.taken_down) == ["rank 0", "rank 1"]


def test_a_report_of_a_node_that_lost_its_peers_does_not_win(tmp_path: Path) -> None:
    lines = (RANKS / "by-node" / "llm-worker-0.log").read_text().splitlines()
    (tmp_path / "worker.log").write_text("\n".join(line for line in lines if "[rank2]" in line))
    result = diagnose([str(tmp_path), str(RANKS / "by-node" / "llm-master-0.log")])
    assert result.first is not None
    assert result.first.origin == "rank 2"


def test_the_report_of_a_node_alone_is_not_certain() -> None:
    result = diagnose([str(RANKS / "by-node" / "llm-master-0.log")])
    assert _names(result) == ["gloo-peer-closed"]
    assert result.first is not None
    assert (result.first.origin, result.first.confidence) == ("rank 1", "medium")
    assert "of its node, and the logs show no cause" in result.first.reason
