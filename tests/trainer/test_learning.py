"""The trainer learns, and equally so with any number of ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainer.checkpoint.catalogue import published
from trainer.config import TrainerConfig
from trainer.errors import TrainerError
from trainer.loop import train
from trainer.parallel.ddp import mean_over_ranks
from trainer.runtime.distributed import World
from trainer.runtime.launch import Launch

from .conftest import WORLD_SIZES
from .launch import Finished


@pytest.mark.parametrize("world_size", WORLD_SIZES)
def test_loss_falls_in_each_epoch_and_accuracy_exceeds_nine_tenths(runs: dict[int, Finished], world_size: int) -> None:
    run = runs[world_size]
    assert run.returncode == 0, run.stderr
    numbers, losses, accuracies = zip(*run.epochs, strict=True)
    assert numbers == (1, 2, 3)
    assert losses[0] > losses[1] > losses[2]
    assert accuracies[-1] > 0.9


@pytest.mark.parametrize(("world_size", "transport"), [(1, "none"), (2, "tcp/lo"), (4, "tcp/lo")])
def test_each_event_is_one_line_whatever_the_number_of_ranks(
    runs: dict[int, Finished], world_size: int, transport: str
) -> None:
    directory = re.escape(str(runs[world_size].directory))
    epochs = [
        pattern
        for number in (1, 2, 3)
        for pattern in (
            rf"epoch={number}/3 loss=\d\.\d{{4}} test_accuracy=\d\.\d{{4}} seconds=\d+\.\d\d samples_per_second=\d+",
            rf"checkpoint saved: epoch={number} path={directory}/epoch-000{number}",
        )
    ]
    expected = [
        rf"trainer: backend=gloo world_size={world_size} transport={transport} device=cpu nodes=1 torch=\d+\.\d+\.\d+",
        f"starting fresh: no checkpoint in {directory}",
        *epochs,
        r"finished: epochs=3 loss=\d\.\d{4} test_accuracy=\d\.\d{4}",
    ]
    lines = runs[world_size].lines
    assert len(lines) == len(expected), lines
    assert [line for pattern, line in zip(expected, lines, strict=True) if not re.fullmatch(pattern, line)] == []


@given(st.integers(1, 4), st.integers(1, 9))
def test_every_sample_of_a_short_batch_weighs_the_same_whatever_its_rank(world_size: int, batch_size: int) -> None:
    weight = torch.ones((), dtype=torch.float64, requires_grad=True)
    samples = torch.arange(1, batch_size + 1, dtype=torch.float64)
    gradient = torch.zeros((), dtype=torch.float64)
    for rank in range(world_size):
        world = World(launch=Launch(rank=rank, size=world_size), backend="gloo", device=torch.device("cpu"))
        loss_sum = (weight * samples[rank::world_size]).sum()
        (of_rank,) = torch.autograd.grad(mean_over_ranks(loss_sum, batch_size, world), weight)
        gradient += of_rank / world_size  # as DistributedDataParallel averages
    torch.testing.assert_close(gradient, samples.mean())


def test_a_loss_that_is_not_finite_ends_the_run_with_advice(alone: World, tmp_path: Path) -> None:
    config = TrainerConfig(checkpoint_dir=tmp_path, learning_rate=1e30)
    with pytest.raises(TrainerError, match=r"write a --learning-rate below 1e\+30"):
        train(config, alone)
    assert published(tmp_path) == []
