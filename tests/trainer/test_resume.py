"""A run that is interrupted, in whatever way, goes on as if nothing had happened."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainer.checkpoint.catalogue import published
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.loop import train
from trainer.runtime.distributed import World
from trainer.runtime.signals import STATUS

from .faulty import STOPPED_AT_STEP, TRAINING_SAMPLES
from .launch import Finished, Started, start

# Two epochs of 45 steps, and saves between their ends.
FLAGS = ("--epochs=2", "--checkpoint-steps=20")
INTERRUPTIONS = ("saved", "terminated", "killed")


def begin(folder: Path, *flags: str, processes: int = 2, fault: str | None = None) -> Started:
    """A run that writes down the loss of each step."""
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    return start(
        folder / "checkpoints",
        *FLAGS,
        f"--events-file={folder}/events.jsonl",
        *flags,
        processes=processes,
        fault=fault,
        environment={"RECORD": f"{folder}/samples"},
    )


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Finished]]:
    """One run without interruption, and others that end early, side by side."""
    folder = tmp_path_factory.mktemp("interrupted")
    runs = {
        "whole": begin(folder / "whole"),
        "saved": begin(folder / "saved", "--steps=30"),
        "terminated": begin(folder / "terminated", fault="terminated"),
        # By itself it would go on in its place.
        "killed": begin(folder / "killed", "--in-place-restarts=0", fault="killed-in-second-save"),
        "killed-once": begin(folder / "killed-once", fault="killed-once-in-second-save"),
    }
    try:
        yield {name: run.finish() for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.stop()


@pytest.fixture(scope="module")
def left_by_the_killed(first: dict[str, Finished]) -> list[str]:
    """What the killed run left, looked at before anyone resumes it."""
    return sorted(path.name for path in first["killed"].directory.iterdir())


@pytest.fixture(scope="module")
def resumed(first: dict[str, Finished], left_by_the_killed: list[str]) -> Iterator[dict[str, Finished]]:
    """The same runs, started again."""
    runs = {name: begin(first[name].directory.parent) for name in INTERRUPTIONS}
    try:
        yield {name: run.finish() for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.stop()


def losses(run: Finished) -> dict[int, set[float]]:
    """The losses of each step, to the last bit, of the run and those before it in its folder."""
    found = defaultdict(set)
    for line in (run.directory.parent / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "step":
            found[event["step"]].add(event["loss"])
    return found


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
def test_each_loss_equals_that_of_a_run_without_interruption_to_the_last_bit(
    first: dict[str, Finished], resumed: dict[str, Finished], interruption: str
) -> None:
    whole, run = first["whole"], resumed[interruption]
    assert whole.returncode == run.returncode == 0, run.stderr
    assert sorted(losses(whole)) == list(range(1, 91))
    assert all(len(values) == 1 for values in losses(whole).values())
    # Steps that were done again after a kill are among them.
    assert losses(run) == losses(whole)
    assert run.lines[-1] == whole.lines[-1]


@pytest.mark.parametrize(("interruption", "step"), [("saved", 30), ("terminated", STOPPED_AT_STEP), ("killed", 20)])
def test_it_resumes_from_the_newest_checkpoint(resumed: dict[str, Finished], interruption: str, step: int) -> None:
    run = resumed[interruption]
    assert run.lines[1] == f"resumed: epoch=0 step={step} path={run.directory}/step-{step:08d}"


def test_a_run_of_which_a_rank_is_killed_goes_on_in_its_place_with_the_same_losses(first: dict[str, Finished]) -> None:
    whole, run = first["whole"], first["killed-once"]
    assert run.returncode == 0, run.stderr
    assert f"resumed: epoch=0 step=20 path={run.directory}/step-00000020" in run.lines
    assert losses(run) == losses(whole)
    assert run.lines[-1] == whole.lines[-1]


def test_sigterm_on_one_rank_saves_the_step_of_all_and_ends_with_a_status_for_another_try(
    first: dict[str, Finished],
) -> None:
    run = first["terminated"]
    assert run.lines[-1] == f"stopped by SIGTERM: step={STOPPED_AT_STEP} is saved"
    assert f"exitcode  : {STATUS}" in run.stderr


def test_sigkill_in_a_save_leaves_the_older_checkpoint_and_a_temporary_folder(
    first: dict[str, Finished], left_by_the_killed: list[str], resumed: dict[str, Finished]
) -> None:
    lock, temporary, older = left_by_the_killed
    assert first["killed"].returncode != 0
    assert (lock, older) == (".lock", "step-00000020")
    assert temporary.startswith(".tmp-step-00000040-")
    assert not list(resumed["killed"].directory.glob(".tmp-*"))


def test_neither_repeats_nor_skips_a_sample_when_the_world_shrinks_and_grows(tmp_path: Path) -> None:
    for processes, steps in ((4, 15), (2, 30), (4, 45)):
        run = begin(tmp_path, f"--steps={steps}", processes=processes, fault="recorded").finish()
        assert run.returncode == 0, run.stderr
    taken = [line.split() for file in (tmp_path / "samples").iterdir() for line in file.read_text().splitlines()]
    assert Counter(int(index) for line in taken for index in line) == Counter(range(TRAINING_SAMPLES))


def test_a_disk_that_is_full_costs_checkpoints_but_not_the_run_until_its_end(tmp_path: Path) -> None:
    run = begin(tmp_path, fault="disk-full-from-second-save").finish()
    assert run.returncode != 0
    (error,) = run.errors
    assert "step-00000090: rank " in error
    assert "File too large" in error
    missed = [line for line in run.lines if line.startswith("checkpoint not saved: ")]
    assert [line.split()[3] for line in missed] == [f"step={step}" for step in (40, 45, 60, 80, 90)]
    assert [step for step, _ in published(run.directory)] == [20]
    assert [number for number, _, _ in run.epochs] == [1, 2]
    assert "trainer/training.py" not in run.stderr


def test_a_run_that_is_done_has_nothing_to_train(
    trained: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    train(TrainerConfig(checkpoint_dir=trained), alone)
    assert capsys.readouterr().out.splitlines() == [
        f"resumed: epoch=3 step=135 path={trained}/step-00000135",
        "nothing to train: checkpoint is at epoch 3 of 3",
    ]


def test_random_state_is_drawn_anew_on_another_number_of_ranks(
    runs: dict[int, Finished], tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs[2].directory / "step-00000135", tmp_path / "step-00000135")
    train(TrainerConfig(checkpoint_dir=tmp_path, epochs=4), alone)
    assert "random state drawn anew: checkpoint has 2 ranks, this run 1" in capsys.readouterr().out


@pytest.mark.parametrize(("field", "value", "saved"), [("seed", 1, 0), ("hidden_size", 64, 128)])
def test_a_run_that_cannot_be_continued_is_refused_and_left_alone(
    trained: Path, alone: World, field: str, value: int, saved: int
) -> None:
    config = TrainerConfig(checkpoint_dir=trained).as_json() | {field: value}
    option = "--" + field.replace("_", "-")
    with pytest.raises(CheckpointError, match=f"write {option} {saved} to continue it"):
        train(TrainerConfig.from_json(config), alone)
    assert [step for step, _ in published(trained)] == [135, 90, 45]
