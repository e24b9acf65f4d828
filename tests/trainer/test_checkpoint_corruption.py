"""A checkpoint that was damaged after it was written is detected, logged and skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trainer.fake_strategy import FakeStrategy, new_manager, run, train_state_at
from trainer.checkpoint.catalog import list_checkpoints, valid_checkpoints
from trainer.checkpoint.manifest import InvalidCheckpointError, read_manifest
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.tensors import read_tensors
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
FILES = (".metadata", "__0_0.distcp", "state.json", "manifest.json")
CHANGED = "{} does not have the sha256 digest that manifest.json states"
OWN = "manifest.json does not have the sha256 digest that it states"
SPOTS = 40


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that has saved three steps."""
    directory = tmp_path_factory.mktemp("saved")
    run(directory, 1, 2, 3)
    return directory


def test_a_rank_makes_progress_while_it_reads_a_large_checkpoint(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.checkpoint.manifest._PART_BYTES", 64)
    read: list[str] = []
    peers = Peers(on_read=lambda: read.append("part"))
    path, _ = next(valid_checkpoints(saved, peers))
    assert len(read) >= sum(file.stat().st_size for file in path.iterdir() if file.name != "manifest.json") / 64

    read.clear()
    tensors = FakeStrategy().tensors
    read_tensors(path, tensors, peers)
    assert len(read) == len(tensors)


@pytest.fixture
def directory(saved: Path, tmp_path: Path) -> Path:
    """A copy of `saved` for one test."""
    return shutil.copytree(saved, tmp_path / "checkpoints")


def flip_bit(path: Path, number: int = 3) -> None:
    content = bytearray(path.read_bytes())
    content[number // 8] ^= 1 << number % 8
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def rewrite(old: str, new: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_text(path.read_text().replace(old, new))

    return damage


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def fifo(path: Path) -> None:
    """Replaces the file with a FIFO: a reader would wait for ever."""
    path.unlink()
    os.mkfifo(path)


def used(directory: Path) -> int | None:
    """Returns the step of the checkpoint that a reader uses."""
    found = next(valid_checkpoints(directory, Peers()), None)
    return found[1].train_state.step if found else None


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        *((name, flip_bit, CHANGED.format(name)) for name in FILES[:-1]),
        ("__0_0.distcp", cut_off, "__0_0.distcp has {less} bytes instead of {size}"),
        ("__0_0.distcp", Path.unlink, "cannot read __0_0.distcp: No such file or directory"),
        ("manifest.json", cut_off, "manifest.json is not JSON"),
        ("manifest.json", Path.unlink, "cannot read manifest.json: No such file or directory"),
        ("manifest.json", rewrite("__0_0.distcp", "__1_0.distcp"), OWN),
        # Another number could be that of another version of the trainer, which ends the run.
        ("manifest.json", rewrite('"format": 3', '"format": 7'), OWN),
        ("manifest.json", rewrite('"format": 3', '"format": "3"'), OWN),
        ("manifest.json", rewrite('"bytes": ', '"bytes": -0.'), OWN),
        ("manifest.json", rewrite("state.json", "state\\u0000json"), OWN),
        ("manifest.json", deep, "manifest.json is not JSON: maximum recursion depth exceeded"),
        ("state.json", fifo, "state.json is not a regular file"),
        ("manifest.json", fifo, "manifest.json is not a regular file"),
        ("manifest.json", rewrite('"files"', '"other"'), "manifest.json lists no files"),
        ("manifest.json", rewrite('"sha256"', '"sha1"'), "manifest.json has 'sha1', which no trainer writes"),
        ("manifest.json", rewrite("state.json", "../state.json"), OWN),
    ],
)
def test_damage_is_logged_and_the_previous_checkpoint_is_used(
    directory: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None], reason: str
) -> None:
    path = directory / "step-00000003" / name
    size = path.stat().st_size
    damage(path)
    assert used(directory) == 2
    expected = f"skipped invalid checkpoint {path.parent}: {reason.format(size=size, less=size - 1)}"
    assert capsys.readouterr().out.startswith(expected)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_detected_anywhere(directory: Path, name: str) -> None:
    path = directory / "step-00000003" / name
    whole = path.read_bytes()
    for part in range(SPOTS):
        flip_bit(path, 8 * (part * len(whole) // SPOTS) + part % 8)
        assert used(directory) == 2
        path.write_bytes(whole)
    assert used(directory) == 3


def test_no_flipped_bit_makes_a_manifest_one_of_another_program(directory: Path) -> None:
    path = directory / "step-00000003"
    for number in range(8 * (path / "manifest.json").stat().st_size):
        flip_bit(path / "manifest.json", number)
        with pytest.raises(InvalidCheckpointError):
            read_manifest(path)
        flip_bit(path / "manifest.json", number)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_detected_at_any_length(directory: Path, name: str) -> None:
    path = directory / "step-00000003" / name
    whole = path.read_bytes()
    for part in range(SPOTS):
        path.write_bytes(whole[: part * len(whole) // SPOTS])
        assert used(directory) == 2


def test_a_checkpoint_under_the_name_of_another_step_is_not_used(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "step-00000003").rename(directory / "step-00000007")
    assert used(directory) == 2
    assert capsys.readouterr().out.endswith("step-00000007: holds step 3\n")


def test_resumes_from_the_newest_valid_checkpoint_and_logs_why(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flip_bit(directory / "step-00000003" / "__0_0.distcp")
    cut_off(directory / "step-00000002" / "state.json")
    size = (directory / "step-00000002" / "state.json").stat().st_size
    strategy = FakeStrategy()
    manager = new_manager(directory, strategy)
    assert manager.resume() == train_state_at(1)
    assert strategy.is_at(1)
    manager.close()
    assert capsys.readouterr().out.splitlines() == [
        f"skipped invalid checkpoint {directory}/step-00000003: {CHANGED.format('__0_0.distcp')}",
        f"skipped invalid checkpoint {directory}/step-00000002: state.json has {size} bytes instead of {size + 1}",
        f"resumed: epoch=0 step=1 path={directory}/step-00000001",
    ]


def test_invalid_checkpoints_are_moved_aside_and_kept(directory: Path) -> None:
    flip_bit(directory / "step-00000003" / "__0_0.distcp")
    damaged = (directory / "step-00000003" / "__0_0.distcp").read_bytes()
    (directory / ".invalid-step-00000003").mkdir()
    run(directory, 3)
    assert (directory / ".invalid-step-00000003-2" / "__0_0.distcp").read_bytes() == damaged
    assert used(directory) == 3


def test_a_run_without_a_valid_checkpoint_stops_and_changes_nothing(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _, path in list_checkpoints(directory):
        (path / "manifest.json").unlink()
    manager = new_manager(directory, FakeStrategy())
    with pytest.raises(CheckpointError, match=r"none of the 3 .* is valid.* or write --start-afresh"):
        manager.resume()
    manager.close()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["skipped"] * 3
    assert [step for step, _ in list_checkpoints(directory)] == [3, 2, 1]


def test_start_afresh_sets_invalid_checkpoints_aside(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _, path in list_checkpoints(directory):
        (path / "manifest.json").unlink()
    run(directory, 1, start_afresh=True)
    assert capsys.readouterr().out.splitlines()[3:] == [
        f"starting fresh: no other checkpoint in {directory}",
        f"checkpoint saved: epoch=0 step=1 path={directory}/step-00000001",
    ]
    assert len(list(directory.glob(".invalid-step-*"))) == 3
    run(directory, 2, start_afresh=True)
    assert [step for step, _ in list_checkpoints(directory)] == [2, 1]


def test_the_oldest_checkpoints_set_aside_are_pruned(directory: Path) -> None:
    for name in ("00000001", "00000001-2", "00000002", "00000009"):
        (directory / f".invalid-step-{name}").mkdir()
    run(directory, 4, keep_checkpoints=2)
    assert sorted(path.name for path in directory.glob(".invalid-*")) == [
        ".invalid-step-00000002",
        ".invalid-step-00000009",
    ]
