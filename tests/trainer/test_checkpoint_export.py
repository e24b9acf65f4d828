"""The weights of a checkpoint, exported for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from tests.trainer.fake_strategy import FakeStrategy, run
from tests.trainer.faulty_disk import file_size_limit
from trainer import export

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The checkpoint directory of a run that has saved two steps."""
    run(tmp_path / "checkpoints", 1, 2)
    return tmp_path / "checkpoints"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file to write the weights to."""
    (tmp_path / "weights").mkdir()
    return tmp_path / "weights" / "model.safetensors"


def test_the_file_has_the_model_of_the_newest_checkpoint_under_its_own_names(
    directory: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert export.main([str(directory), str(file)]) == 0
    assert capsys.readouterr().out == f"exported: epoch=0 step=2 parameters=18 path={file}\n"
    strategy = FakeStrategy()
    strategy.train_to(2)
    weights = load_file(file)
    assert weights.keys() == {"0", "1", "2"}
    assert all(torch.equal(weight, strategy.tensors[f"model.{name}"]) for name, weight in weights.items())
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()
    fields = json.loads(metadata.pop("fields"))
    assert metadata == {"format": "pt", "step": "2", "epoch": "0"}
    assert (fields["model"], fields["hidden_size"]) == ("mlp", 128)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_that_exists_is_never_overwritten(
    directory: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("mine")
    assert export.main([str(directory), str(file)]) == 1
    assert f"{file} exists and is never overwritten: write another OUT" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_full_disk_leaves_nothing_behind(directory: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with file_size_limit(100):
        status = export.main([str(directory), str(file)])
    assert status == 1
    assert f"trainer: error: cannot write {file}: " in capsys.readouterr().err
    assert list(file.parent.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(
    directory: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = file.parent / "missing" / "model.safetensors"
    assert export.main([str(directory), str(missing)]) == 1
    assert f"cannot write {missing}: " in capsys.readouterr().err


def test_without_a_checkpoint_the_message_says_what_to_write(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export.main([str(tmp_path), str(file)]) == 1
    assert f"no valid checkpoint in {tmp_path}: write the --checkpoint-dir of a run" in capsys.readouterr().err
