"""A run that is killed goes on as if nothing had happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from trainer.checkpoint.catalogue import newest_valid, published
from trainer.checkpoint.state import Checkpoint
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.loop import train
from trainer.runtime.distributed import World

from .conftest import KILLED
from .launch import Finished, Started, start


@pytest.fixture(scope="module")
def killed(started: dict[int | str, Started]) -> Finished:
    """Two ranks; the first was killed in the middle of its second save."""
    return started[KILLED].finish()


@pytest.fixture(scope="module")
def left_by_the_killed(killed: Finished) -> list[str]:
    """What the killed run left, looked at before anyone resumes it."""
    return sorted(path.name for path in killed.directory.iterdir())


@pytest.fixture(scope="module")
def resumed(killed: Finished, left_by_the_killed: list[str]) -> Finished:
    """The same run, started again; the disk is full when it has three epochs and saves a fourth."""
    return start(killed.directory, "--epochs=4", processes=2, fault="disk-full-from-fourth-save").finish()


def checkpoint_in(directory: Path) -> Checkpoint:
    found = newest_valid(directory)
    assert found is not None
    return found[1]


def losses(directory: Path) -> list[float]:
    """The losses of all epochs, newest first, to the last bit: the log rounds them."""
    return [json.loads((path / "state.json").read_text())["loss"] for _, path in published(directory)]


def test_sigkill_in_a_save_leaves_the_older_checkpoint_and_a_temporary_directory(
    killed: Finished, left_by_the_killed: list[str]
) -> None:
    assert killed.returncode != 0
    assert [number for number, _, _ in killed.epochs] == [1, 2]
    lock, temporary, older = left_by_the_killed
    assert (lock, older) == (".lock", "epoch-0001")
    assert temporary.startswith(".tmp-epoch-0002-")


def test_the_next_start_resumes_from_it_and_cleans_up(resumed: Finished) -> None:
    assert resumed.lines[1] == f"resumed: epoch=1 path={resumed.directory}/epoch-0001"
    assert [number for number, _, _ in resumed.epochs] == [2, 3, 4]
    assert sorted(path.name for path in resumed.directory.iterdir()) == [
        ".lock",
        "epoch-0001",
        "epoch-0002",
        "epoch-0003",
    ]


def test_losses_and_weights_equal_those_of_a_run_without_interruption(
    resumed: Finished, runs: dict[int, Finished]
) -> None:
    assert len(losses(resumed.directory)) == 3
    assert losses(resumed.directory) == losses(runs[2].directory)
    weights, expected = (checkpoint_in(run.directory).model for run in (resumed, runs[2]))
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], expected[name]) for name in weights)


def test_a_disk_that_fills_up_ends_every_rank_with_one_message_and_spares_older_checkpoints(resumed: Finished) -> None:
    assert resumed.returncode != 0
    assert resumed.errors == [f"trainer: error: cannot write checkpoint {resumed.directory}/epoch-0004: File too large"]
    assert "trainer/loop.py" not in resumed.stderr
    assert checkpoint_in(resumed.directory).epoch == 3


def test_a_run_that_is_done_has_nothing_to_train(
    trained: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    train(TrainerConfig(checkpoint_dir=trained), alone)
    assert capsys.readouterr().out.splitlines() == [
        f"resumed: epoch=3 path={trained}/epoch-0003",
        "nothing to train: checkpoint is at epoch 3 of 3",
    ]


def test_resumes_on_another_number_of_ranks(
    runs: dict[int, Finished], tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs[2].directory / "epoch-0003", tmp_path / "epoch-0003")
    train(TrainerConfig(checkpoint_dir=tmp_path, epochs=4), alone)
    assert "random state drawn anew: checkpoint has 2 ranks, this run 1" in capsys.readouterr().out
    later, earlier = losses(tmp_path)
    assert later < earlier


def test_the_learning_rate_of_the_flag_holds_after_a_resume(trained: Path, alone: World) -> None:
    train(TrainerConfig(checkpoint_dir=trained, epochs=4, learning_rate=0.5), alone)
    assert [group["lr"] for group in checkpoint_in(trained).optimizer["param_groups"]] == [0.5]


@pytest.mark.parametrize(("field", "value", "saved"), [("seed", 1, 0), ("hidden_size", 64, 128)])
def test_a_run_that_cannot_be_continued_is_refused_and_left_alone(
    trained: Path, alone: World, field: str, value: int, saved: int
) -> None:
    config = TrainerConfig(checkpoint_dir=trained).as_json() | {field: value}
    option = "--" + field.replace("_", "-")
    with pytest.raises(CheckpointError, match=f"write {option} {saved} to continue it"):
        train(TrainerConfig.from_json(config), alone)
    assert [epoch for epoch, _ in published(trained)] == [3, 2, 1]
