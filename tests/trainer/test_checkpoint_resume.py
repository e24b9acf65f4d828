"""Resuming from a checkpoint: the state that is restored, and the checkpoints that are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.fake_strategy import FINGERPRINT, FakeStrategy, new_manager, run, train_state_at
from trainer.checkpoint.catalog import list_checkpoints
from trainer.checkpoint.compatibility import check_compatible
from trainer.checkpoint.state import CheckpointState
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def test_train_state_tensors_and_extras_are_restored(tmp_path: Path) -> None:
    run(tmp_path, 5)
    strategy = FakeStrategy()
    manager = new_manager(tmp_path, strategy)
    assert manager.resume() == train_state_at(5)
    assert strategy.is_at(5)
    assert manager.metrics.newest_step == 5
    manager.close()


@pytest.mark.parametrize(
    ("field", "value", "saved"),
    [
        ("seed", 1, 0),
        ("model", "cnn", "mlp"),
        ("hidden_size", 64, 128),
        ("num_layers", 3, 2),
        ("num_heads", 8, 4),
        ("context_length", 32, 64),
        ("num_kv_heads", 2, 0),
        ("norm_epsilon", 1e-6, 1e-5),
        ("data", "folder", "digits"),
        ("classes", 9, 10),
    ],
)
def test_an_incompatible_checkpoint_is_refused_and_kept(
    tmp_path: Path, field: str, value: object, saved: object
) -> None:
    run(tmp_path, 1)
    option = "--" + field.replace("_", "-")
    manager = new_manager(tmp_path, FakeStrategy(), **{field: value})
    with pytest.raises(CheckpointError, match=f"write {option} {saved} to continue it, or another --checkpoint-dir"):
        manager.resume()
    manager.close()
    assert [step for step, _ in list_checkpoints(tmp_path)] == [1]


def test_a_checkpoint_of_an_earlier_version_has_the_defaults_of_newer_fields(tmp_path: Path) -> None:
    config = TrainerConfig()
    newer = ("num_kv_heads", "head_size", "mlp_size", "activation", "norm_epsilon", "tie_embeddings", "max_positions")
    state = CheckpointState(
        train_state=train_state_at(1),
        config={name: value for name, value in config.as_json().items() if name not in newer},
        fingerprint=FINGERPRINT,
        extras={},
        torch="2.15.0",
    )
    check_compatible(tmp_path, state, config, FINGERPRINT)
    with pytest.raises(
        CheckpointError, match="trained with --no-tie-embeddings and this run has --tie-embeddings: write"
    ):
        check_compatible(tmp_path, state, TrainerConfig(tie_embeddings=True), FINGERPRINT)


@pytest.mark.parametrize("other", ["other-4567", "tokens-4567"])
def test_other_data_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    run(tmp_path, 1)
    monkeypatch.setattr("tests.trainer.fake_strategy.FINGERPRINT", other)
    manager = new_manager(tmp_path, FakeStrategy())
    expected = rf"was trained on other data \({FINGERPRINT}\) than this run has \({other}\): write the --data-dir"
    with pytest.raises(CheckpointError, match=expected):
        manager.resume()
    manager.close()


@pytest.mark.parametrize(
    "fields", [{"batch_size": 64}, {"strategy": "fsdp2"}, {"learning_rate": 0.5}, {"epochs": 9}, {"dropout": 0.0}]
)
def test_fields_that_do_not_affect_the_weights_may_change(tmp_path: Path, fields: dict[str, Any]) -> None:
    run(tmp_path, 1)
    run(tmp_path, 2, **fields)
    assert [step for step, _ in list_checkpoints(tmp_path)] == [2, 1]


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (((3, 5), (5,), ()), r"its tensor model.0 has shape \[3, 4\], and this run's has \[3, 5\]"),
        (((3, 4), (5,)), r"its tensor model.2 has shape \[\], and this run's has None"),
        (((3, 4), (5,), (), (1,)), r"its tensor model.3 has shape None, and this run's has \[1\]"),
    ],
)
def test_incompatible_tensors_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shapes: tuple[tuple[int, ...], ...], reason: str
) -> None:
    run(tmp_path, 1)
    manager = new_manager(tmp_path, FakeStrategy(shapes))
    with pytest.raises(CheckpointError, match="none of the 1 checkpoints"):
        manager.resume()
    manager.close()
    assert re.search(f"checkpoint {tmp_path}/step-00000001: it is of another model: {reason}", capsys.readouterr().out)
