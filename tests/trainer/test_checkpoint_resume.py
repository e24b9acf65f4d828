"""What a run takes over from a checkpoint, and which checkpoints it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from trainer.checkpoint.catalogue import published
from trainer.errors import CheckpointError
from trainer.parallel import Share

from .toy import FINGERPRINT, Toy, manager_of, progress_at, run

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def draw(directory: Path, toy: Toy, *, save: int | None = None, **fields: Any) -> list[float]:
    """What a run on `directory` draws after it has begun; with `save`, after it has saved that step too."""
    manager = manager_of(directory, toy, **fields)
    manager.resume()
    if save is not None:
        torch.rand(5)
        manager.save(toy.train_to(save))
    drawn: list[float] = torch.rand(3).tolist()
    manager.close()
    return drawn


def test_progress_tensors_and_extras_come_back_as_they_were(tmp_path: Path) -> None:
    run(tmp_path, 5)
    toy = Toy()
    manager = manager_of(tmp_path, toy)
    assert manager.resume() == progress_at(5)
    assert toy.is_at(5)
    assert manager.figures.newest_step == 5
    manager.close()


def test_random_state_goes_on_where_the_checkpoint_was_saved(tmp_path: Path) -> None:
    drawn = draw(tmp_path, Toy(), save=1)
    assert draw(tmp_path, Toy()) == drawn
    assert draw(tmp_path, Toy()) == drawn


def test_a_new_run_draws_what_its_seed_says_and_each_part_of_a_batch_something_else(tmp_path: Path) -> None:
    drawn = draw(tmp_path / "a", Toy())
    torch.rand(1)
    assert draw(tmp_path / "b", Toy()) == drawn
    assert draw(tmp_path / "c", Toy(), seed=1) != drawn
    assert draw(tmp_path / "d", Toy(rank=1, size=2)) != drawn


def test_random_state_is_drawn_anew_when_batches_are_divided_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = draw(tmp_path, Toy(rank=0, size=2), save=1)
    assert draw(tmp_path, Toy()) != drawn
    assert "random state drawn anew: checkpoint has batches in 2 parts, this run in 1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "value", "saved"),
    [
        ("seed", 1, 0),
        ("model", "cnn", "mlp"),
        ("hidden_size", 64, 128),
        ("num_layers", 3, 2),
        ("num_heads", 8, 4),
        ("context_length", 32, 64),
        ("data", "folder", "digits"),
        ("classes", 9, 10),
    ],
)
def test_a_run_that_cannot_be_continued_is_refused_and_left_alone(
    tmp_path: Path, field: str, value: object, saved: object
) -> None:
    run(tmp_path, 1)
    option = "--" + field.replace("_", "-")
    manager = manager_of(tmp_path, Toy(), **{field: value})
    with pytest.raises(CheckpointError, match=f"write {option} {saved} to continue it, or another --checkpoint-dir"):
        manager.resume()
    manager.close()
    assert [step for step, _ in published(tmp_path)] == [1]


def test_other_data_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, 1)
    monkeypatch.setattr("tests.trainer.toy.FINGERPRINT", "other-4567")
    manager = manager_of(tmp_path, Toy())
    expected = rf"was trained on other data \({FINGERPRINT}\) than this run has \(other-4567\): write the --data-dir"
    with pytest.raises(CheckpointError, match=expected):
        manager.resume()
    manager.close()


@pytest.mark.parametrize(
    "fields", [{"batch_size": 64}, {"strategy": "fsdp2"}, {"learning_rate": 0.5}, {"epochs": 9}, {"dropout": 0.0}]
)
def test_whatever_the_weights_do_not_depend_on_may_change(tmp_path: Path, fields: dict[str, Any]) -> None:
    run(tmp_path, 1)
    run(tmp_path, 2, **fields)
    assert [step for step, _ in published(tmp_path)] == [2, 1]


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (((3, 5), (5,), ()), r"its tensor model.0 has shape \[3, 4\], and this run's has \[3, 5\]"),
        (((3, 4), (5,)), r"its tensor model.2 has shape \[\], and this run's has None"),
        (((3, 4), (5,), (), (1,)), r"its tensor model.3 has shape None, and this run's has \[1\]"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path: Path, shapes: tuple[tuple[int, ...], ...], reason: str) -> None:
    run(tmp_path, 1)
    manager = manager_of(tmp_path, Toy(shapes))
    with pytest.raises(CheckpointError, match=f"{tmp_path}/step-00000001 is of another model: {reason}"):
        manager.resume()
    manager.close()


def test_a_strategy_whose_ranks_share_samples_draws_the_same_on_all_of_them(tmp_path: Path) -> None:
    toys = [Toy() for _ in range(2)]
    for toy in toys:
        toy.share = Share(1, 2, leads=toy is toys[0])
    first, second = (draw(tmp_path / str(number), toy) for number, toy in enumerate(toys))
    assert first == second
