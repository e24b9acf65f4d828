"""A checkpoint that was damaged after it was written is found out, named and passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trainer.checkpoint.catalogue import newest_valid, published
from trainer.checkpoint.publish import InvalidCheckpointError
from trainer.checkpoint.state import read
from trainer.config import TrainerConfig
from trainer.loop import train
from trainer.runtime.distributed import World

CHANGED = "{} does not have the sha256 digest that manifest.json states"


def flip_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def rewrite(old: str, new: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_text(path.read_text().replace(old, new))

    return damage


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        *((name, flip_byte, CHANGED.format(name)) for name in ("model.pt", "optimizer.pt", "rng.pt", "state.json")),
        ("model.pt", cut_off, r"model.pt has \d+ bytes instead of \d+"),
        ("model.pt", Path.unlink, "cannot read model.pt: No such file or directory"),
        ("manifest.json", cut_off, "manifest.json is not JSON"),
        ("manifest.json", Path.unlink, "cannot read manifest.json: No such file or directory"),
        ("manifest.json", rewrite("rng.pt", "rng"), "manifest.json does not list rng.pt"),
        ("manifest.json", rewrite('"format": 1', '"format": 2'), "format 2, while this trainer reads format 1"),
        ("manifest.json", rewrite('"files"', '"other"'), "manifest.json lists no files"),
    ],
)
def test_damage_is_found_and_named(trained: Path, name: str, damage: Callable[[Path], None], reason: str) -> None:
    damage(trained / "epoch-0003" / name)
    with pytest.raises(InvalidCheckpointError, match=reason):
        read(trained / "epoch-0003", epoch=3)


def test_a_checkpoint_under_the_name_of_another_epoch_is_not_used(trained: Path) -> None:
    (trained / "epoch-0003").rename(trained / "epoch-0007")
    with pytest.raises(InvalidCheckpointError, match="holds epoch 3"):
        read(trained / "epoch-0007", epoch=7)


def test_resumes_from_the_newest_checkpoint_that_is_whole_and_says_why(
    trained: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    flip_byte(trained / "epoch-0003" / "model.pt")
    cut_off(trained / "epoch-0002" / "optimizer.pt")
    size = (trained / "epoch-0002" / "optimizer.pt").stat().st_size
    train(TrainerConfig(checkpoint_dir=trained), alone)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        f"skipped invalid checkpoint {trained}/epoch-0003: {CHANGED.format('model.pt')}",
        f"skipped invalid checkpoint {trained}/epoch-0002: optimizer.pt has {size} bytes instead of {size + 1}",
        f"resumed: epoch=1 path={trained}/epoch-0001",
    ]
    assert lines[-1].startswith("finished: epochs=3 ")


def test_invalid_checkpoints_make_room_for_new_ones_and_are_kept_aside(trained: Path, alone: World) -> None:
    flip_byte(trained / "epoch-0003" / "model.pt")
    damaged = (trained / "epoch-0003" / "model.pt").read_bytes()
    (trained / ".invalid-epoch-0003").mkdir()
    train(TrainerConfig(checkpoint_dir=trained), alone)
    assert (trained / ".invalid-epoch-0003-2" / "model.pt").read_bytes() == damaged
    found = newest_valid(trained)
    assert found is not None
    assert found[0] == trained / "epoch-0003"


def test_starts_fresh_when_no_checkpoint_is_whole(
    trained: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for _, path in published(trained):
        (path / "manifest.json").unlink()
    train(TrainerConfig(checkpoint_dir=trained, epochs=1), alone)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["skipped"] * 3
    assert lines[3] == f"starting fresh: no checkpoint in {trained}"
    assert lines[-1].startswith("finished: epochs=1 ")
