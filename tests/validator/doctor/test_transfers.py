"""Sends and receives in dumps of the flight recorder.

gloo does not record them, and NCCL needs a GPU. So the dumps are written here, and PyTorch's own reader judges them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torch.distributed.flight_recorder.components.types import MatchState, Op

from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose

_RANKS = 4


def _entry(number: int, name: str, state: str, shape: list[int], kind: str) -> dict[str, Any]:
    shapes = {"input_sizes": [shape], "output_sizes": [shape], "input_dtypes": [kind], "output_dtypes": [kind]}
    return {
        "record_id": number,
        "pg_id": 0,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": 0,
        "p2p_seq_id": number + 1,
        "op_id": number + 1,
        "profiling_name": f"nccl:{name}",
        "time_created_ns": 1_000_000_000 + number,
        "state": state,
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
        "retired": state == "completed",
        "timeout_ms": 600_000,
        "is_p2p": True,
        **shapes,
    }


def _call(text: str) -> tuple[str, str, list[int], str]:
    """Returns the call of a text: `send 0->1`, `recv 1<-0 pending`, `send 0->1 [6]`, `send 0->1 Int`."""
    operation, peers, *rest = text.split()
    shape = next((json.loads(word) for word in rest if word.startswith("[")), [8])
    kind = next((word for word in rest if word.istitle()), "Float")
    return f"{operation} {peers}", "scheduled" if "pending" in rest else "completed", shape, kind


def _trees(calls: dict[int, list[str]], first: int = 0) -> dict[int, dict[str, Any]]:
    group = {"name": "0", "desc": "default_pg", "ranks": str(list(range(_RANKS)))}
    return {
        rank: {
            "version": "2.10",
            "comm_lib_version": "2.30",
            "pg_config": {"0": group},
            "pg_status": {},
            "entries": [_entry(first + place, *_call(text)) for place, text in enumerate(calls.get(rank, []))],
        }
        for rank in range(_RANKS)
    }


def _diagnosis(folder: Path, calls: dict[int, list[str]], first: int = 0) -> Diagnosis:
    for rank, tree in _trees(calls, first).items():
        (folder / f"rank_{rank}.json").write_text(json.dumps(tree))
    return diagnose([str(folder)])


def _found(result: Diagnosis) -> list[tuple[str, str]]:
    return [(one.cause.name, line.text) for one in result.causes for line in one.lines]


_PAIRED = {0: ["send 0->1", "send 0->1"], 1: ["recv 1<-0", "recv 1<-0", "send 1->2"], 2: ["recv 2<-1"]}
_PIPELINE = {0: [], 1: ["recv 1<-0 pending"], 2: ["recv 2<-1 pending"], 3: ["recv 3<-2 pending"]}


def test_sends_and_receives_that_pair_up_are_no_finding(tmp_path: Path) -> None:
    assert not _found(_diagnosis(tmp_path, _PAIRED))


def test_a_send_that_is_missing_is_named_with_the_rank_that_waits(tmp_path: Path) -> None:
    calls = {0: ["send 0->1"], 1: ["recv 1<-0", "recv 1<-0 pending"]}
    result = _diagnosis(tmp_path, calls)
    text = "group default_pg, from rank 0 to rank 1: ['Float'] [[8]] is awaited; rank 0 did not send it"
    assert _found(result) == [("collective-not-joined", text)]
    assert result.first is not None
    assert (result.first.origin, result.first.confidence) == ("rank 0", "high")


def test_a_receive_that_is_missing_is_named(tmp_path: Path) -> None:
    result = _diagnosis(tmp_path, {0: ["send 0->1 pending"]})
    assert "['Float'] [[8]] was sent; rank 1 did not receive it" in _found(result)[0][1]
    assert result.first is not None
    assert result.first.origin == "rank 1"


def test_the_first_stage_of_a_pipeline_is_to_blame_if_each_waits_for_the_one_before(tmp_path: Path) -> None:
    result = _diagnosis(tmp_path, _PIPELINE)
    assert len(_found(result)) == 1
    assert result.first is not None
    assert result.first.origin == "rank 0"


def test_ranks_that_wait_for_each_other_do_not_tell_who_is_wrong(tmp_path: Path) -> None:
    result = _diagnosis(tmp_path, {0: ["recv 0<-1 pending"], 1: ["recv 1<-0 pending"]})
    assert {name for name, _ in _found(result)} == {"collective-not-joined"}
    assert result.first is None


@pytest.mark.parametrize(
    ("received", "shown"), [("[6]", "['Float'] [[6]]"), ("Int", "['Int'] [[8]]")], ids=["shape", "type"]
)
def test_a_receive_of_another_shape_or_type_is_a_mismatch(received: str, shown: str, tmp_path: Path) -> None:
    result = _diagnosis(tmp_path, {0: ["send 0->1", "send 0->1"], 1: ["recv 1<-0", f"recv 1<-0 pending {received}"]})
    text = f"group default_pg, from rank 0 to rank 1: send 2 is ['Float'] [[8]], and its receive {shown}"
    assert _found(result) == [("mismatched-collectives", text)]
    assert result.first is None


def test_only_pending_calls_count_if_a_dump_has_lost_its_first_entries(tmp_path: Path) -> None:
    calls = {0: ["send 0->1"], 1: ["recv 1<-0", "recv 1<-0"]}
    assert not _found(_diagnosis(tmp_path, calls, first=40))
    calls[1][-1] += " pending"
    assert "rank 0 did not send it" in _found(_diagnosis(tmp_path, calls, first=40))[0][1]


def test_a_receive_from_any_rank_pairs_with_nothing(tmp_path: Path) -> None:
    assert not _found(_diagnosis(tmp_path, {0: ["send 0->1"], 1: ["recv 1<-?"]}))


def test_the_rank_that_sends_nothing_is_named_before_those_that_therefore_miss_a_collective(tmp_path: Path) -> None:
    trees = _trees({2: ["recv 2<-3 pending"]})
    collective = _entry(0, "all_reduce", "scheduled", [8], "Float") | {"is_p2p": False, "collective_seq_id": 1}
    for rank in (0, 1):
        trees[rank]["entries"].append(collective | {"time_created_ns": 1})
    for rank, tree in trees.items():
        (tmp_path / f"rank_{rank}.json").write_text(json.dumps(tree))
    result = diagnose([str(tmp_path)])
    assert "ranks 0-1 called it; ranks 2-3 did not call it" in _found(result)[1][1]
    assert result.first is not None
    assert result.first.origin == "rank 3"


@pytest.mark.parametrize(
    ("sent", "received", "state"),
    [
        ("send 0->1", "recv 1<-0", MatchState.FULLY_MATCHED),
        ("send 0->1", "recv 1<-?", MatchState.FULLY_MATCHED),
        ("send 0->1", "recv 1<-0 [6]", MatchState.SIZE_OR_SYNTAX_MISMATCH),
        ("send 0->1", "recv 1<-2", MatchState.SIZE_OR_SYNTAX_MISMATCH),
    ],
)
def test_pytorch_reads_these_entries_in_the_same_way(sent: str, received: str, state: MatchState) -> None:
    first, second = (Op(_entry(0, *_call(text)), {"0": set(range(_RANKS))}, "0") for text in (sent, received))
    assert first.match(second).state is state
