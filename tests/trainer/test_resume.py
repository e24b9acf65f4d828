"""An interrupted run continues as if it had never been interrupted."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.trainer.launch import Finished, Started, start
from tests.trainer.fault_injection import STOPPED_AT_STEP, TRAINING_SAMPLES
from trainer.checkpoint.catalog import list_checkpoints
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.run import train
from trainer.runtime.distributed import World
from trainer.runtime.signals import SIGTERM_STATUS

# Two epochs of 45 steps, and saves between their ends.
FLAGS = ("--epochs=2", "--checkpoint-steps=20")
INTERRUPTIONS = ("saved", "terminated", "killed")


def begin(folder: Path, *flags: str, processes: int = 2, fault: str | None = None) -> Started:
    """Starts a run that records the loss of each step."""
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
    """One uninterrupted run and several that end early, in parallel."""
    folder = tmp_path_factory.mktemp("interrupted")
    runs = {
        "whole": begin(folder / "whole"),
        "saved": begin(folder / "saved", "--steps=30"),
        "terminated": begin(folder / "terminated", fault="terminated"),
        # Without in-place restarts, so that it stays dead.
        "killed": begin(folder / "killed", "--in-place-restarts=0", fault="all-killed-in-second-save"),
        "lost": begin(folder / "lost", "--steps=40", "--no-async-checkpoints", fault="killed-once"),
        "killed-once": begin(folder / "killed-once", fault="killed-once-in-second-save"),
    }
    try:
        yield {name: run.finish() for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.stop()


@pytest.fixture(scope="module")
def files_after_kill(first: dict[str, Finished]) -> list[str]:
    """The files that the killed run left, listed before it is resumed."""
    return sorted(path.name for path in first["killed"].directory.iterdir())


@pytest.fixture(scope="module")
def resumed(first: dict[str, Finished], files_after_kill: list[str]) -> Iterator[dict[str, Finished]]:
    """The interrupted runs, started again."""
    runs = {name: begin(first[name].directory.parent) for name in INTERRUPTIONS}
    try:
        yield {name: run.finish() for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.stop()


def losses(run: Finished) -> dict[int, set[float]]:
    """Returns the exact losses of each step, over all runs in the folder."""
    found = defaultdict(set)
    for line in (run.directory.parent / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "step":
            found[event["step"]].add(event["loss"])
    return found


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
def test_losses_are_bitwise_equal_to_those_of_an_uninterrupted_run(
    first: dict[str, Finished], resumed: dict[str, Finished], interruption: str
) -> None:
    whole, run = first["whole"], resumed[interruption]
    assert whole.returncode == run.returncode == 0, run.stderr
    assert sorted(losses(whole)) == list(range(1, 91))
    assert all(len(values) == 1 for values in losses(whole).values())
    # These include steps that were repeated after a kill.
    assert losses(run) == losses(whole)
    assert run.lines[-1] == whole.lines[-1]


@pytest.mark.parametrize(("interruption", "step"), [("saved", 30), ("terminated", STOPPED_AT_STEP), ("killed", 20)])
def test_it_resumes_from_the_newest_checkpoint(resumed: dict[str, Finished], interruption: str, step: int) -> None:
    run = resumed[interruption]
    assert run.lines[1] == f"resumed: epoch=0 step={step} path={run.directory}/step-{step:08d}"


def test_a_rank_killed_in_a_save_restarts_in_place_at_the_last_step_with_the_same_losses(
    first: dict[str, Finished],
) -> None:
    whole, run = losses(first["whole"]), first["killed-once"]
    assert run.returncode == 0, run.stderr
    saved = re.search(r"lost its peers and saved alone: step=(\d+) ", run.stderr)
    assert saved, run.stderr
    step = int(saved[1])
    assert step >= 40
    assert f"resumed: epoch=0 step={step} path={run.directory}/step-{step:08d}" in run.lines
    # The killed rank 0 writes the events, and none of the step that it did not end.
    assert losses(run) | {step: whole[step]} == whole
    assert run.lines[-1] == first["whole"].lines[-1]


def test_a_lone_save_is_continued_with_the_losses_of_an_uninterrupted_run(first: dict[str, Finished]) -> None:
    run = first["lost"]
    saved = STOPPED_AT_STEP - 1
    assert run.returncode == 0, run.stderr
    assert f"lost its peers and saved alone: step={saved} " in run.stderr
    assert f"resumed: epoch=0 step={saved} path={run.directory}/step-{saved:08d}" in run.lines
    assert losses(run) == {step: loss for step, loss in losses(first["whole"]).items() if step <= 40}


def test_sigterm_on_one_rank_saves_the_step_of_all_and_exits_with_a_retryable_status(
    first: dict[str, Finished],
) -> None:
    run = first["terminated"]
    assert run.lines[-1] == f"stopped by SIGTERM: step={STOPPED_AT_STEP} is saved"
    assert f"exitcode  : {SIGTERM_STATUS}" in run.stderr


def test_sigkill_in_a_save_leaves_the_older_checkpoint_and_a_temporary_folder(
    first: dict[str, Finished], files_after_kill: list[str], resumed: dict[str, Finished]
) -> None:
    lock, temporary, older = files_after_kill
    assert first["killed"].returncode != 0
    assert (lock, older) == (".lock", "step-00000020")
    assert temporary.startswith(".tmp-step-00000040-")
    assert not list(resumed["killed"].directory.glob(".tmp-*"))


def test_no_sample_is_repeated_or_skipped_when_the_world_shrinks_and_grows(tmp_path: Path) -> None:
    for processes, steps in ((4, 15), (2, 30), (4, 45)):
        run = begin(tmp_path, f"--steps={steps}", processes=processes, fault="recorded").finish()
        assert run.returncode == 0, run.stderr
    taken = [line.split() for file in (tmp_path / "samples").iterdir() for line in file.read_text().splitlines()]
    assert Counter(int(index) for line in taken for index in line) == Counter(range(TRAINING_SAMPLES))


def test_a_full_disk_costs_checkpoints_and_fails_the_run_only_at_its_end(tmp_path: Path) -> None:
    run = begin(tmp_path, fault="disk-full-from-second-save").finish()
    assert run.returncode != 0
    (error,) = run.errors
    assert "step-00000090: rank " in error
    assert "File too large" in error
    missed = [line for line in run.lines if line.startswith("checkpoint not saved: ")]
    assert [line.split()[3] for line in missed] == [f"step={step}" for step in (40, 45, 60, 80, 90)]
    assert [step for step, _ in list_checkpoints(run.directory)] == [20]
    assert [number for number, _, _ in run.epochs] == [1, 2]
    assert "trainer/trainer.py" not in run.stderr


def test_a_finished_run_has_nothing_to_train(trained: Path, alone: World, capsys: pytest.CaptureFixture[str]) -> None:
    train(TrainerConfig(checkpoint_dir=trained), alone)
    assert capsys.readouterr().out.splitlines() == [
        f"resumed: epoch=3 step=135 path={trained}/step-00000135",
        "nothing to train: checkpoint is at epoch 3 of 3",
    ]


@pytest.mark.parametrize(("field", "value", "saved"), [("seed", 1, 0), ("hidden_size", 64, 128)])
def test_an_incompatible_checkpoint_is_refused_and_kept(
    trained: Path, alone: World, field: str, value: int, saved: int
) -> None:
    config = TrainerConfig(checkpoint_dir=trained).as_json() | {field: value}
    option = "--" + field.replace("_", "-")
    with pytest.raises(CheckpointError, match=f"write {option} {saved} to continue it"):
        train(TrainerConfig.from_json(config), alone)
    assert [step for step, _ in list_checkpoints(trained)] == [135, 90, 45]
