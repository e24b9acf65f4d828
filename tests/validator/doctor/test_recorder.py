"""Dumps of the flight recorder: `recorder_runs.py` wrote those in `recorder/` with gloo."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from trainyard.commands.doctor import recorder
from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose
from trainyard.commands.doctor.errors import DoctorError

DUMPS = Path(__file__).parent / "recorder"


def _only(result: Diagnosis) -> tuple[str, str]:
    (evidence,) = result.causes
    return evidence.cause.name, evidence.lines[0].text


def _change(folder: Path, rank: int, **fields: Any) -> None:
    """Changes the last entry of a dump in JSON."""
    path = folder / f"nccl-rank-{rank}.json"
    tree = json.loads(path.read_text())
    tree["entries"][-1] |= fields
    path.write_text(json.dumps(tree))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the JSON dumps in which rank 2 does not call collective 3."""
    return Path(shutil.copytree(DUMPS / "not-joined-json", tmp_path / "dumps"))


@pytest.mark.parametrize("form", ["not-joined", "not-joined-json"])
def test_the_rank_that_did_not_join_is_named_with_the_collective(form: str) -> None:
    result = diagnose([str(DUMPS / form)])
    assert _only(result) == (
        "collective-not-joined",
        "group default_pg, collective 3, all_reduce [[8]]: ranks 0-1 called it; rank 2 did not call it",
    )
    assert result.first is not None
    assert (result.first.origin, result.first.confidence) == ("rank 2", "high")


@pytest.mark.parametrize(
    ("run", "calls"),
    [
        (
            "other-operation",
            "ranks 0, 2 called all_reduce of ['Float'] [[8]]; rank 1 called broadcast of ['Float'] [[8]]",
        ),
        ("other-type", "ranks 0, 2 called all_reduce of ['Float'] [[8]]; rank 1 called all_reduce of ['Int'] [[8]]"),
    ],
)
def test_the_rank_with_another_collective_is_named_with_both_calls(run: str, calls: str) -> None:
    result = diagnose([str(DUMPS / run)])
    assert _only(result) == ("mismatched-collectives", f"group default_pg, collective 3: {calls}")
    assert result.first is not None
    assert result.first.origin == "rank 1"


def test_another_shape_of_a_reduction_is_a_mismatch(folder: Path) -> None:
    _change(folder, 1, input_sizes=[[6]])
    assert _only(diagnose([str(folder)]))[0] == "mismatched-collectives"


def test_two_ranks_that_differ_do_not_tell_who_is_wrong(folder: Path) -> None:
    _change(folder, 1, profiling_name="nccl:broadcast")
    result = diagnose([str(folder)])
    assert _only(result)[0] == "mismatched-collectives"
    assert result.first is None


def test_ranks_that_called_the_same_are_no_finding() -> None:
    assert not diagnose([str(DUMPS / "complete")]).causes


def test_a_rank_without_a_dump_is_named_if_most_others_have_one(tmp_path: Path) -> None:
    for rank in (0, 1):
        shutil.copy(DUMPS / "complete" / f"nccl-rank-{rank}", tmp_path)
    result = diagnose([str(tmp_path)])
    assert "there is no dump of rank 2" in _only(result)[1]
    assert result.first is not None
    assert result.first.origin == "rank 2"


def test_the_dump_of_one_rank_tells_nothing(tmp_path: Path) -> None:
    shutil.copy(DUMPS / "complete" / "nccl-rank-0", tmp_path)
    assert not diagnose([str(tmp_path)]).causes


def test_the_line_of_the_program_is_given_if_it_was_recorded(folder: Path) -> None:
    frames = [
        {
            "filename": "/usr/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py",
            "line": 41,
            "name": "f",
        },
        {"filename": "/app/train.py", "line": 88, "name": "step"},
    ]
    for rank in (0, 1):
        _change(folder, rank, frames=frames)
    assert "all_reduce [[8]] at /app/train.py:88: ranks 0-1 called it" in _only(diagnose([str(folder)]))[1]


def test_a_cause_in_the_logs_is_more_than_the_collective_that_is_missing(folder: Path) -> None:
    (folder / "worker.log").write_text("[rank2]: torch.OutOfMemoryError: CUDA out of memory.\n")
    result = diagnose([str(folder)])
    assert _only(result)[0] == "cuda-out-of-memory"
    assert [evidence.cause.name for evidence in result.consequences] == ["collective-not-joined"]
    assert result.first is not None
    assert result.first.origin == "rank 2"


def test_a_rank_that_never_entered_is_named_although_the_others_have_lost_their_first_entries(folder: Path) -> None:
    path = folder / "nccl-rank-2.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"entries": []}))
    for rank in (0, 1):
        path = folder / f"nccl-rank-{rank}.json"
        tree = json.loads(path.read_text())
        tree["entries"] = tree["entries"][1:]
        path.write_text(json.dumps(tree))
    result = diagnose([str(folder)])
    assert "ranks 0-1 called it; rank 2 did not call it" in _only(result)[1]
    assert result.first is not None
    assert result.first.origin == "rank 2"


def test_another_shape_of_an_output_is_a_mismatch(folder: Path) -> None:
    for rank, parts in ((0, 3), (1, 4)):
        _change(folder, rank, profiling_name="nccl:all_gather", output_sizes=[[8]] * parts)
    name, text = _only(diagnose([str(folder)]))
    assert name == "mismatched-collectives"
    assert "rank 1 called all_gather of ['Float'] [[8]] to [[8], [8], [8], [8]]" in text


class _Call:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return print, ("called",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickle.dumps({"entries": [_Call()]}, protocol=2), "opcode b'c' at byte"),
        (b"\x80\x02}r\xff\xff\xff\x7f(X\x07\x00\x00\x00entries]u", "the file is cut off"),
        (b"\x80\x02X\xff\xff\xff\xff", "the file is cut off"),
        (b"\x80\x02\x8a\xff" + b"\xff" * 255 + b".", "an integer is too long"),
        (b"\x80\x02e.", "the file is damaged"),
        (b"\x80\x02]\x87.", "a tuple lacks items"),
        (b"\x80\x02}.", "the file has no entries"),
        (b'{"entries": [', "the dump is no JSON"),
        (b'{"entries": ' + b"[" * 100_000, "the dump is no JSON"),
    ],
)
def test_a_file_that_is_no_dump_is_refused_without_running_anything(
    data: bytes, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rank_0"
    path.write_bytes(data)
    with pytest.raises(DoctorError, match="rank_0: ") as error:
        recorder.read(str(path))
    assert message in str(error.value)
    assert "called" not in capfd.readouterr().out


def test_lists_without_end_are_shown_in_part(folder: Path) -> None:
    nested: list[Any] = [8]
    for _ in range(100):
        nested = [nested, nested]
    assert recorder._values(nested) == "[[[...], [...]], [[...], [...]]]"


def test_a_dump_needs_its_rank_in_its_name_and_a_limited_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "dump"
    shutil.copy(DUMPS / "complete" / "nccl-rank-0", path)
    with pytest.raises(DoctorError, match="needs its rank at the end of its name"):
        recorder.read(str(path))
    monkeypatch.setattr(recorder, "_LARGEST", 512)
    with pytest.raises(DoctorError, match="the dump is larger than"):
        recorder.read(str(path))


def test_the_reader_of_plain_values_agrees_with_pickle() -> None:
    for path in DUMPS.glob("*/nccl-rank-?"):
        dump = recorder.read(str(path))
        assert dump is not None
        entries = pickle.loads(path.read_bytes())["entries"]  # noqa: S301 (a file of ours)
        assert [one.number for one in dump.collectives] == [entry["collective_seq_id"] for entry in entries]
        assert [one.sizes for one in dump.collectives] == [str(entry["input_sizes"]) for entry in entries]
