"""Ranks that write a checkpoint together agree on whether it exists, whatever happens to one of them."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import pytest

from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS
from tests.trainer.checkpoint_ranks import REPLICATED, SHAPES
from tests.trainer.fake_strategy import FakeStrategy, new_manager
from trainer.checkpoint.catalog import checkpoint_path, list_checkpoints
from trainer.checkpoint.publish import TEMPORARY_PREFIX

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
RANKS = 2


@dataclass(frozen=True)
class Ended:
    """Exit status, stdout and stderr of a rank."""

    status: int
    log: str
    errors: str


def run_scenarios(directory: Path, *scenarios: str) -> list[Ended]:
    """Runs ranks through `scenarios`. Without torchrun, which would end the others when one ends."""
    launch = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    processes = [
        fork(
            ["tests.trainer.checkpoint_ranks", str(directory), *scenarios],
            {**ENVIRONMENT, **launch, "RANK": str(rank)},
        )
        for rank in range(RANKS)
    ]
    try:
        outputs = [process.communicate(timeout=TIMEOUT_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [Ended(process.wait(), *of) for process, of in zip(processes, outputs, strict=True)]


def records(folder: Path) -> list[list[Any]]:
    """Returns the lines that each rank wrote."""
    return [
        [json.loads(line) for line in (folder / f"records-{rank}").read_text().splitlines()] for rank in range(RANKS)
    ]


def save_alone(directory: Path, step: int) -> None:
    strategy = FakeStrategy(SHAPES)
    manager = new_manager(directory, strategy)
    manager.resume()
    manager.save(strategy.train_to(step))
    manager.close()


def resume_alone(directory: Path, shapes: tuple[tuple[int, ...], ...] = SHAPES) -> FakeStrategy:
    """Resumes as a single process and returns the strategy."""
    strategy = FakeStrategy(shapes)
    manager = new_manager(directory, strategy)
    manager.resume()
    manager.close()
    return strategy


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the log of ranks that have run all scenarios that they survive."""
    directory = tmp_path_factory.mktemp("ranks")
    (directory / "resume_resharded").mkdir()
    save_alone(directory / "resume_resharded" / "checkpoints", 5)
    ranks = run_scenarios(
        directory,
        "resume_resharded",
        "replicated",
        "disk_errors_on_last_rank",
        "disk_errors_on_rank_zero",
        "separate_directories",
        "directory_lost",
        "read_error_on_last_rank",
    )
    assert [rank.status for rank in ranks] == [0] * RANKS, ranks
    return directory, ranks[0].log


def test_a_checkpoint_is_loaded_with_another_world_size_and_sharding(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "resume_resharded"
    for lines in records(folder):
        assert [line[:2] for line in lines] == [[5, True], [6, True]]
    assert resume_alone(folder / "checkpoints").is_at(7)


def test_each_tensor_that_all_ranks_hold_is_staged_and_written_by_one_of_them(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "replicated"
    of_ranks = records(folder)
    for save, sizes in enumerate((REPLICATED, REPLICATED, (*REPLICATED, (100,)))):
        state = {f"model.{place}": 4 * prod(shape) for place, shape in enumerate(sizes)}
        first, last = (lines[save][0] for lines in of_ranks)
        assert not first.keys() & last.keys()
        assert first | last == state
        assert max(sum(first.values()), sum(last.values())) <= 0.75 * sum(state.values())
    assert [lines[-1] for lines in of_ranks] == [[True]] * RANKS
    assert resume_alone(folder / "checkpoints", (*REPLICATED, (100,))).is_at(3)


def test_ranks_plan_a_save_again_only_if_the_tensors_changed(scenarios: tuple[Path, str]) -> None:
    for lines in records(scenarios[0] / "replicated"):
        assert [planned for _, planned in lines[:-1]] == [1, 1, 2]


def test_disk_errors_of_the_last_rank_fail_the_same_saves_on_all_ranks(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "disk_errors_on_last_rank"
    first, last = records(folder)
    assert first == last
    (saved, failed, operations), *rest = first
    assert failed == operations > 3
    assert saved == 1
    path = checkpoint_path(folder / "checkpoints", operations + 1)
    assert rest == [[f"cannot write checkpoint {path}: rank 1: No space left on device"], [True]]
    assert [step for step, _ in list_checkpoints(folder / "checkpoints")] == [operations + 2, 1]
    assert list((folder / "checkpoints").glob(f"{TEMPORARY_PREFIX}*")) == []


def test_disk_errors_of_rank_zero_fail_the_same_saves_on_all_ranks(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "disk_errors_on_rank_zero"
    first, last = records(folder)
    assert first == last
    (saved, failed, operations), *rest = first
    assert operations > failed > saved > 0
    assert rest[-1] == [True]
    assert resume_alone(folder / "checkpoints").is_at(operations + 2)


def test_ranks_without_a_shared_directory_are_refused_before_training(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "separate_directories"
    missed = folder / "checkpoints-1"
    expected = f"rank 1 does not see what rank 0 writes to {missed}: mount the same volume there on every node"
    assert records(folder) == [[[expected]]] * RANKS


def test_a_rank_that_loses_the_directory_fails_the_save_on_all_ranks(scenarios: tuple[Path, str]) -> None:
    folder, log = scenarios
    assert records(folder / "directory_lost") == [[[0, 1, [".lock"]]]] * RANKS
    assert "checkpoint not saved: step=1 rank 1 does not see what rank 0 writes to " in log


def test_a_rank_that_cannot_read_its_part_ends_the_run_on_all_ranks(scenarios: tuple[Path, str]) -> None:
    folder = scenarios[0] / "read_error_on_last_rank"
    path = checkpoint_path(folder / "checkpoints", 1)
    assert records(folder) == [[[f"checkpoint {path}: cannot read its tensors: rank 1: Input/output error"]]] * RANKS


def test_a_rank_killed_in_a_save_ends_the_others_and_leaves_the_older_checkpoint(tmp_path: Path) -> None:
    other, killed = run_scenarios(tmp_path, "killed")
    assert killed.status == -signal.SIGKILL
    assert other.status == 1
    assert records(tmp_path / "killed")[0] == [["saved", 1], ["lost a peer"]]
    folder = tmp_path / "killed" / "checkpoints"
    assert [path.name[:18] for path in sorted(folder.iterdir())] == [".lock", ".tmp-step-00000002", "step-00000001"]
    assert resume_alone(folder).is_at(1)
    assert [path.name for path in sorted(folder.iterdir())] == [".lock", "step-00000001"]
