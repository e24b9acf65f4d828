"""The trainer learns, equally well with any number of ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.harness.trainer.launch import Finished, start
from tests.trainer.conftest import WORLD_SIZES
from trainer.checkpoint.catalog import list_checkpoints
from trainer.config import TrainerConfig
from trainer.errors import TrainerError
from trainer.run import train
from trainer.runtime.distributed import World


@pytest.mark.parametrize("world_size", WORLD_SIZES)
def test_loss_falls_in_each_epoch_and_accuracy_exceeds_nine_tenths(runs: dict[int, Finished], world_size: int) -> None:
    run = runs[world_size]
    assert run.returncode == 0, run.stderr
    numbers, losses, accuracies = zip(*run.epochs, strict=True)
    assert numbers == (1, 2, 3)
    assert losses[0] > losses[1] > losses[2]
    assert accuracies[-1] > 0.9


@pytest.mark.parametrize(("world_size", "transport"), [(1, "none"), (2, "tcp/lo"), (4, "tcp/lo")])
def test_each_event_is_one_line_with_any_world_size(runs: dict[int, Finished], world_size: int, transport: str) -> None:
    directory = re.escape(str(runs[world_size].directory))
    score = r"loss=\d\.\d{4} test_loss=\d\.\d{4} test_accuracy=\d\.\d{4}"
    metrics = rf"{score} seconds=\d+\.\d\d samples_per_second=\d+"
    expected = [
        rf"trainer: backend=gloo world_size={world_size} transport={transport} device=cpu nodes=1 "
        r"torch=\d+\.\d+\.\d+ precision=fp32",
        f"starting fresh: no checkpoint in {directory}",
        *(rf"epoch={number}/3 {metrics}" for number in (1, 2, 3)),
        rf"finished: epochs=3 {score}",
    ]
    # A checkpoint is saved during the next epoch, and logged once it is durable.
    saves = [
        rf"checkpoint saved: epoch={number} step={45 * number} path={directory}/step-{45 * number:08d}"
        for number in (1, 2, 3)
    ]
    lines = runs[world_size].lines
    saved = [line for line in lines if line.startswith("checkpoint saved")]
    others = [line for line in lines if line not in saved]
    for patterns, found in ((expected, others), (saves, saved)):
        assert len(found) == len(patterns), lines
        assert [line for pattern, line in zip(patterns, found, strict=True) if not re.fullmatch(pattern, line)] == []


def test_a_loss_that_is_not_finite_ends_the_run_with_advice(alone: World, tmp_path: Path) -> None:
    config = TrainerConfig(checkpoint_dir=tmp_path, learning_rate=1e30)
    advice = r"the loss of step 2 is not finite on rank 0: write a --learning-rate below 1e\+30"
    with pytest.raises(TrainerError, match=advice):
        train(config, alone)
    assert list_checkpoints(tmp_path) == []


def start_poisoned(folder: Path, fault: str, *more: str, save_steps: int) -> Finished:
    """Runs one epoch to its end, with a fault that occurs in the first run only."""
    flags = ("--epochs=1", f"--checkpoint-steps={save_steps}", *more)
    return start(folder / "run", *flags, fault=fault, environment={"RECORD": str(folder)}).finish()


def test_gradients_that_are_not_finite_end_the_run_and_no_checkpoint_has_them(tmp_path: Path) -> None:
    first, second = (start_poisoned(tmp_path, "infinite-gradient", save_steps=10) for _ in range(2))
    assert first.returncode == 1
    assert "the gradients of step 25 are not finite, and were not applied: " in first.errors[0]
    assert second.returncode == 0
    assert f"resumed: epoch=0 step=20 path={tmp_path}/run/step-00000020" in second.lines


def test_a_checkpoint_whose_weights_give_no_finite_loss_is_set_aside(tmp_path: Path) -> None:
    first, second = (start_poisoned(tmp_path, "spoiled-weights", save_steps=12) for _ in range(2))
    assert first.returncode == 1
    assert "the loss of step 25 is not finite" in first.errors[0]
    assert f"{tmp_path}/run/step-00000024 is set aside, because its weights gave this loss" in first.errors[0]
    assert second.returncode == 0
    assert f"resumed: epoch=0 step=12 path={tmp_path}/run/step-00000012" in second.lines


def test_a_slow_save_of_weights_that_give_no_finite_loss_does_not_look_like_a_hang(tmp_path: Path) -> None:
    finished = start_poisoned(tmp_path, "spoiled-weights-on-slow-volume", "--hang-seconds=3", save_steps=12)
    assert finished.returncode == 1
    assert f"{tmp_path}/run/step-00000024 is set aside, because its weights gave this loss" in finished.errors[0]
