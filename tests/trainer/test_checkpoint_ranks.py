"""Ranks that write one checkpoint together agree on whether it is there, whatever happens to one of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainer.checkpoint.catalogue import path_of, published
from trainer.checkpoint.publish import TEMPORARY_PREFIX

from .launch import ENVIRONMENT, TIMEOUT_SECONDS
from .ports import free_port
from .ranks import SHAPES
from .toy import Toy, manager_of

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
RANKS = 2


@dataclass(frozen=True)
class Ended:
    """Exit status, stdout and stderr of a rank."""

    status: int
    log: str
    errors: str


def play(directory: Path, *scenarios: str) -> list[Ended]:
    """Ranks that play `scenarios`. Not under torchrun, which would end the others when one has ended."""
    launch = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.trainer.ranks", str(directory), *scenarios],
            env={**ENVIRONMENT, **launch, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(RANKS)
    ]
    try:
        told = [process.communicate(timeout=TIMEOUT_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [Ended(process.returncode, *of) for process, of in zip(processes, told, strict=True)]


def said(folder: Path) -> list[list[Any]]:
    """What each rank said, line by line."""
    return [[json.loads(line) for line in (folder / f"said-{rank}").read_text().splitlines()] for rank in range(RANKS)]


def save_alone(directory: Path, step: int) -> None:
    toy = Toy(SHAPES)
    manager = manager_of(directory, toy)
    manager.resume()
    manager.save(toy.train_to(step))
    manager.close()


def resume_alone(directory: Path) -> Toy:
    """What a run of one process resumes with."""
    toy = Toy(SHAPES)
    manager = manager_of(directory, toy)
    manager.resume()
    manager.close()
    return toy


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the log of ranks that have played all scenarios which they survive."""
    directory = tmp_path_factory.mktemp("ranks")
    (directory / "spread").mkdir()
    save_alone(directory / "spread" / "checkpoints", 5)
    ranks = play(directory, "spread", "refused_to_last", "refused_to_first", "apart", "moved_apart")
    assert [rank.status for rank in ranks] == [0] * RANKS, ranks
    return directory, ranks[0].log


def test_a_checkpoint_is_loaded_on_another_number_of_ranks_spread_otherwise(played: tuple[Path, str]) -> None:
    folder = played[0] / "spread"
    for lines in said(folder):
        assert [line[:2] for line in lines] == [[5, True], [6, True]]
    assert resume_alone(folder / "checkpoints").is_at(7)


def test_random_state_is_each_rank_s_own_and_restored_on_as_many_ranks(played: tuple[Path, str]) -> None:
    folder, log = played
    (first, again), (other, other_again) = [[line[2] for line in lines] for lines in said(folder / "spread")]
    # Saved after the first draw, and drawn anew only where the number of ranks had changed.
    assert len({str(drawn) for drawn in (first, again, other, other_again)}) == 4
    assert log.count("random state drawn anew: checkpoint has 1 ranks, this run 2") == 1
    assert log.count("random state drawn anew") == 1


def test_a_disk_that_refuses_one_rank_costs_all_of_them_the_same_checkpoints(played: tuple[Path, str]) -> None:
    folder = played[0] / "refused_to_last"
    first, last = said(folder)
    assert first == last
    (saved, failed, operations), *rest = first
    assert failed == operations > 3
    assert saved == 1
    path = path_of(folder / "checkpoints", operations + 1)
    assert rest == [[f"cannot write checkpoint {path}: rank 1: No space left on device"], [True]]
    assert [step for step, _ in published(folder / "checkpoints")] == [operations + 2, 1]
    assert list((folder / "checkpoints").glob(f"{TEMPORARY_PREFIX}*")) == []


def test_a_disk_that_refuses_rank_zero_costs_all_of_them_the_same_checkpoints(played: tuple[Path, str]) -> None:
    folder = played[0] / "refused_to_first"
    first, last = said(folder)
    assert first == last
    (saved, failed, operations), *rest = first
    assert operations > failed > saved > 0
    assert rest[-1] == [True]
    assert resume_alone(folder / "checkpoints").is_at(operations + 2)


def test_ranks_that_do_not_share_the_directory_say_so_before_training(played: tuple[Path, str]) -> None:
    folder = played[0] / "apart"
    missed = folder / "checkpoints-1"
    expected = f"rank 1 does not see what rank 0 writes to {missed}: mount the same volume there on every node"
    assert said(folder) == [[[expected]]] * RANKS


def test_a_rank_that_loses_the_directory_fails_the_save_of_all(played: tuple[Path, str]) -> None:
    folder, log = played
    assert said(folder / "moved_apart") == [[[0, 1, [".lock"]]]] * RANKS
    assert "checkpoint not saved: step=1 rank 1 does not see what rank 0 writes to " in log


def test_a_rank_that_is_killed_in_a_save_frees_the_others_and_leaves_the_older_checkpoint(tmp_path: Path) -> None:
    other, killed = play(tmp_path, "killed")
    assert killed.status == -signal.SIGKILL
    assert other.status == 1
    assert said(tmp_path / "killed")[0] == [["saved", 1], ["lost a peer"]]
    folder = tmp_path / "killed" / "checkpoints"
    assert [path.name[:18] for path in sorted(folder.iterdir())] == [".lock", ".tmp-step-00000002", "step-00000001"]
    assert resume_alone(folder).is_at(1)
    assert [path.name for path in sorted(folder.iterdir())] == [".lock", "step-00000001"]
