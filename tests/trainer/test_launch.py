"""The launch environment from torchrun, and errors about it."""

from __future__ import annotations

import pytest

from trainer.errors import ConfigError, TrainerError
from trainer.runtime import log
from trainer.runtime.error_file import is_of_lost_peer
from trainer.runtime.launch import Launch

TORCHRUN = {
    "RANK": "3",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "WORLD_SIZE": "4",
    "GROUP_WORLD_SIZE": "2",
    "MASTER_ADDR": "digits-master-0",
    "MASTER_PORT": "29500",
}


def test_ranks_and_sizes_come_from_torchrun() -> None:
    expected = Launch(rank=3, local_rank=1, local_size=2, size=4, nodes=2, launched=True)
    assert Launch.from_environment(TORCHRUN) == expected


def test_without_torchrun_the_world_is_one_process() -> None:
    assert Launch.from_environment({"HOME": "/"}) == Launch(rank=0, size=1, launched=False)


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_several_processes_of_mpirun_are_no_worlds_of_one(name: str) -> None:
    assert Launch.from_environment({name: "1"}) == Launch()
    with pytest.raises(ConfigError, match=f"mpirun has started 2 processes .{name}., but none has a RANK: .*torchrun"):
        Launch.from_environment({name: "2"})
    assert Launch.from_environment(TORCHRUN | {name: "2"}).size == 4


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_an_incomplete_launch_is_refused_with_the_missing_variable(missing: str) -> None:
    with pytest.raises(ConfigError, match=f"but not {missing}: start with torchrun"):
        Launch.from_environment({name: value for name, value in TORCHRUN.items() if name != missing})


@pytest.mark.parametrize("value", ["two", "-1", "1.0", ""])
def test_a_rank_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="environment variable RANK must be a whole number"):
        Launch.from_environment(TORCHRUN | {"RANK": value})


@pytest.mark.parametrize(("rank", "size"), [("4", "4"), ("0", "0")])
def test_a_rank_that_is_not_in_the_world_is_refused(rank: str, size: str) -> None:
    with pytest.raises(ConfigError, match=f"RANK is {rank} and must be below WORLD_SIZE, which is {size}"):
        Launch.from_environment(TORCHRUN | {"RANK": rank, "WORLD_SIZE": size})


@pytest.mark.parametrize(("rank", "written"), [("0", "event\n"), ("1", ""), ("two", "event\n")])
def test_one_rank_writes_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rank: str, written: str
) -> None:
    monkeypatch.setenv("RANK", rank)
    log.log("event")
    assert capsys.readouterr().out == written


def test_an_error_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    log.report_error(TrainerError("the disk is full"))
    assert capsys.readouterr() == ("", "trainer: error: the disk is full\n")


@pytest.mark.parametrize(
    ("error", "is_of_peer"),
    [
        (RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:30415"), True),
        (ZeroDivisionError("a mistake"), False),
        # Such a rank must not save: its weights may be those that gave the loss.
        (TrainerError("the loss of step 9 is not finite: /mnt/igloo/step-00000008 is set aside"), False),
    ],
)
def test_an_error_of_a_collective_is_told_from_others(error: Exception, is_of_peer: bool) -> None:
    assert is_of_lost_peer(error) is is_of_peer
