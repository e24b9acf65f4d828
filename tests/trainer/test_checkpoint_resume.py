"""Resuming from a checkpoint: the state that is restored, and the checkpoints that are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer.fake_strategy import FINGERPRINT, FakeStrategy, new_manager, run, train_state_at
from trainer.checkpoint import rng
from trainer.checkpoint.catalog import list_checkpoints
from trainer.checkpoint.compatibility import check_compatible
from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.state import CheckpointState
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.parallel import DataShard

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def draw(directory: Path, strategy: FakeStrategy, *, save: int | None = None, **fields: Any) -> list[float]:
    """Returns random numbers drawn by a run on `directory` after it has resumed and, with `save`, saved that step."""
    manager = new_manager(directory, strategy, **fields)
    manager.resume()
    if save is not None:
        torch.rand(5)
        manager.save(strategy.train_to(save))
    drawn: list[float] = torch.rand(3).tolist()
    manager.close()
    return drawn


def test_train_state_tensors_and_extras_are_restored(tmp_path: Path) -> None:
    run(tmp_path, 5)
    strategy = FakeStrategy()
    manager = new_manager(tmp_path, strategy)
    assert manager.resume() == train_state_at(5)
    assert strategy.is_at(5)
    assert manager.metrics.newest_step == 5
    manager.close()


def test_random_state_continues_where_the_checkpoint_was_saved(tmp_path: Path) -> None:
    drawn = draw(tmp_path, FakeStrategy(), save=1)
    assert draw(tmp_path, FakeStrategy()) == drawn
    assert draw(tmp_path, FakeStrategy()) == drawn


def test_random_numbers_depend_on_the_seed_and_the_part_of_the_batch(tmp_path: Path) -> None:
    drawn = draw(tmp_path / "a", FakeStrategy())
    torch.rand(1)
    assert draw(tmp_path / "b", FakeStrategy()) == drawn
    assert draw(tmp_path / "c", FakeStrategy(), seed=1) != drawn
    assert draw(tmp_path / "d", FakeStrategy(rank=1, size=2)) != drawn


def test_random_state_is_reseeded_when_batches_are_split_differently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = draw(tmp_path, FakeStrategy(rank=0, size=2), save=1)
    assert draw(tmp_path, FakeStrategy()) != drawn
    assert "random state reseeded: checkpoint has batches in 2 parts, this run in 1\n" in capsys.readouterr().out


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
        world_size=1,
        parts=1,
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


def test_ranks_that_share_samples_draw_the_same_random_numbers(tmp_path: Path) -> None:
    strategies = [FakeStrategy() for _ in range(2)]
    for strategy in strategies:
        strategy.data_shard = DataShard(1, 2, is_leader=strategy is strategies[0])
    first, second = (draw(tmp_path / str(number), strategy) for number, strategy in enumerate(strategies))
    assert first == second


def test_the_random_state_of_a_gpu_is_saved_and_restored_with_that_of_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, of_gpu = torch.device("cuda", 3), torch.arange(8, dtype=torch.uint8)
    restored: list[tuple[torch.Tensor, torch.device]] = []
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: of_gpu + device.index)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: restored.append((state, device)))
    torch.save(rng.capture_rng_state(gpu), tmp_path / "rng-00000.pt")
    drawn = torch.rand(2)
    rng.restore_on_all_ranks(tmp_path, Peers(), gpu)
    assert torch.equal(torch.rand(2), drawn)
    ((state, device),) = restored
    assert torch.equal(state, of_gpu + 3)
    assert device == gpu


def test_the_random_state_of_a_gpu_is_left_out_on_a_cpu_and_of_a_cpu_on_a_gpu(tmp_path: Path) -> None:
    state = rng.capture_rng_state(torch.device("cpu"))
    assert state.keys() == {"cpu"}
    drawn = torch.rand(2)
    for saved, device in ((state | {"cuda": torch.zeros(8)}, "cpu"), (state, "cuda")):
        torch.save(saved, tmp_path / "rng-00000.pt")
        rng.restore_on_all_ranks(tmp_path, Peers(), torch.device(device))
        assert torch.equal(torch.rand(2), drawn)


def test_a_random_state_that_cannot_be_read_ends_the_run_and_a_damaged_one_is_explained_in_a_line(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        CheckpointError, match=f"^cannot read checkpoint {tmp_path}: No such file or directory$"
    ) as error:
        rng.restore_on_all_ranks(tmp_path, Peers(), torch.device("cpu"))
    assert error.type is CheckpointError
    torch.save(re.compile("code"), tmp_path / "rng-00000.pt")
    with pytest.raises(
        InvalidCheckpointError, match=r"^rng-00000\.pt holds no random state: Weights only load failed.*$"
    ):
        rng.restore_on_all_ranks(tmp_path, Peers(), torch.device("cpu"))
