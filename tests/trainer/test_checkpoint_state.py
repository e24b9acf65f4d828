"""state.json holds the progress of a run, and only what this trainer wrote is read."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.fake_strategy import train_state_at
from trainer.checkpoint.catalog import checkpoint_path, list_checkpoints
from trainer.checkpoint.contents import check_contents
from trainer.checkpoint.files import Entry
from trainer.checkpoint.manifest import FORMAT, InvalidCheckpointError
from trainer.checkpoint.metrics import CheckpointMetrics
from trainer.checkpoint.plan import Plan
from trainer.checkpoint.staging import Staged
from trainer.checkpoint.state import CheckpointState, read_state
from trainer.train_state import TrainState

STATE = CheckpointState(
    train_state=TrainState(step=7, position=224, epoch=1, loss_sum=2, loss=None, test_accuracy=0.5),
    config={"seed": 0},
    fingerprint="digits-0123",
    extras={},
    torch="2.15.0",
)


def written(folder: Path, **fields: Any) -> Path:
    """Writes the state with other fields, and returns the folder."""
    tree = json.loads(STATE.as_json())
    tree["progress"] |= {name: value for name, value in fields.items() if name in tree["progress"]}
    tree |= {name: value for name, value in fields.items() if name not in tree["progress"]}
    (folder / "state.json").write_text(json.dumps(tree))
    return folder


def test_a_state_reads_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_bytes(STATE.as_json())
    assert read_state(tmp_path, 7) == STATE
    assert list(json.loads(STATE.as_json())) == ["progress", "config", "fingerprint", "extras", "torch"]
    assert STATE.as_json().startswith(b'{\n  "progress": {\n    "step": 7,')


@pytest.mark.parametrize("fields", [{"epoch": 0}, {"loss": 1}, {"loss": -0.5}, {"loss_sum": 0}], ids=str)
def test_a_number_may_be_zero_and_a_loss_any_number(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert read_state(written(tmp_path, **fields), 7)


@pytest.mark.parametrize(
    "fields",
    [
        {"position": -1},
        {"epoch": -1},
        {"epoch": 1.0},
        {"epoch": None},
        {"epoch": True},
        {"loss_sum": None},
        {"loss": "0.5"},
        {"test_accuracy": []},
        {"emergency_saves": "1"},
        {"fingerprint": 1},
        {"extras": None},
        {"config": []},
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused_by_its_name(tmp_path: Path, fields: dict[str, Any]) -> None:
    ((name, value),) = fields.items()
    with pytest.raises(InvalidCheckpointError) as error:
        read_state(written(tmp_path, **fields), 7)
    assert str(error.value) == f"state.json was not written by this trainer: {name} is {value!r}"


def test_a_long_value_is_cut_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpointError) as error:
        read_state(written(tmp_path, epoch="x" * 99), 7)
    assert str(error.value).endswith(f"epoch is '{'x' * 39}")


@pytest.mark.parametrize("step", [6, 8])
def test_a_state_of_another_step_is_refused(tmp_path: Path, step: int) -> None:
    with pytest.raises(InvalidCheckpointError, match="holds step 7"):
        read_state(written(tmp_path), step)


def test_fields_that_the_format_does_not_have_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpointError, match="has 'tokens', 'words', which no trainer writes in this format"):
        read_state(written(tmp_path, words=1, tokens=2), 7)


def test_a_state_with_other_fields_is_of_another_format() -> None:
    """A trainer that does not know a field passes the checkpoint over, unless the format says that another wrote it."""
    tree = json.loads(STATE.as_json())
    progress = ["step", "position", "epoch", "loss_sum", "loss", "test_accuracy", "emergency_saves"]
    fields_of = {3: (["progress", "config", "fingerprint", "extras", "torch"], progress)}
    assert fields_of[FORMAT] == (list(tree), list(tree["progress"])), "increase FORMAT in checkpoint/manifest.py"


@pytest.mark.parametrize("torch", ["later", "", "2", "x2.15.0", "2.x"])
def test_a_version_of_pytorch_that_is_none_is_refused(tmp_path: Path, torch: str) -> None:
    with pytest.raises(InvalidCheckpointError, match="torch is"):
        read_state(written(tmp_path, torch=torch), 7)


def test_a_state_without_a_field_or_without_any_is_refused(tmp_path: Path) -> None:
    for text in ("[]", "{}", '{"progress": {}}'):
        (tmp_path / "state.json").write_text(text)
        with pytest.raises(InvalidCheckpointError, match=r"state\.json was not written by this trainer$"):
            read_state(tmp_path, 7)


def test_the_number_of_ranks_in_a_state_of_an_earlier_version_is_ignored(tmp_path: Path) -> None:
    assert read_state(written(tmp_path, world_size=2, parts=None), 7) == STATE


def test_the_state_of_a_checkpoint_has_the_step_of_its_folder(directory: Path) -> None:
    assert check_contents(directory / "step-00000002", 2).train_state == train_state_at(2)


def test_checkpoints_are_listed_newest_first_by_their_number(tmp_path: Path) -> None:
    names = ("step-00000009", "step-00000010", "step-99999999", "step-100000000", "step-00000000")
    others = ("step-9", "step-0100000000", "step-00000011x", "xstep-00000011", ".tmp-step-00000011", "step-0000001a")
    for name in (*names, *others):
        (tmp_path / name).mkdir()
    assert [step for step, _ in list_checkpoints(tmp_path)] == [100_000_000, 99_999_999, 10, 9, 0]
    assert all(path == checkpoint_path(tmp_path, step) for step, path in list_checkpoints(tmp_path))
    assert list_checkpoints(tmp_path / "missing") == []


def test_metrics_start_at_zero() -> None:
    metrics = CheckpointMetrics()
    assert (metrics.saved, metrics.failed, metrics.stall_seconds, metrics.save_seconds) == (0, 0, 0, 0)
    assert (metrics.newest_step, metrics.newest_time) == (None, None)


@pytest.mark.parametrize("kind", [CheckpointState, Entry, Plan, Staged])
def test_what_a_save_holds_cannot_change_while_it_is_written(kind: type[Any]) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(object.__new__(kind), fields(kind)[0].name, None)


@pytest.mark.parametrize("kind", [CheckpointMetrics, CheckpointState])
def test_fields_that_could_be_confused_are_given_by_name(kind: type[Any]) -> None:
    with pytest.raises(TypeError, match="positional argument"):
        kind(*[0] * len(fields(kind)))
