"""Runs shared by several tests, and a process group for tests that need only one process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.harness.trainer.launch import Finished, Started, start
from tests.trainer import fake_strategy
from trainer.config import TrainerConfig
from trainer.run import train
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch

WORLD_SIZES = (1, 2, 4)


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Started]]:
    """Runs that do not depend on each other, started in parallel; the smaller ones as by a user."""
    folder = tmp_path_factory.mktemp("runs")
    runs: dict[int, Started] = {}
    try:
        for size in WORLD_SIZES:
            runs[size] = start(folder / str(size), processes=size, anew=size < max(WORLD_SIZES))
        yield runs
    finally:
        for run in runs.values():
            run.stop()


@pytest.fixture(scope="session")
def runs(started: dict[int, Started]) -> dict[int, Finished]:
    """One run with default flags for each world size."""
    return {size: started[size].finish() for size in WORLD_SIZES}


@pytest.fixture(scope="session")
def alone() -> Iterator[World]:
    """A world of one process: the test process."""
    # The model is so small that threads only wait for each other, for seconds if the cores are busy.
    torch.set_num_threads(1)
    with process_group(Launch(), timeout_seconds=60) as world:
        yield world


@pytest.fixture(scope="session")
def three_epochs(tmp_path_factory: pytest.TempPathFactory, alone: World) -> Path:
    """The checkpoint directory of a single-process run of three epochs."""
    directory = tmp_path_factory.mktemp("three-epochs")
    train(TrainerConfig(checkpoint_dir=directory), alone)
    return directory


@pytest.fixture
def trained(three_epochs: Path, tmp_path: Path) -> Path:
    """A copy of `three_epochs` for one test."""
    return shutil.copytree(three_epochs, tmp_path / "checkpoints")


@pytest.fixture(scope="session")
def two_saves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a fake run that has saved two steps."""
    directory = tmp_path_factory.mktemp("two-saves")
    fake_strategy.run(directory, 1, 2)
    return directory


@pytest.fixture
def directory(two_saves: Path, tmp_path: Path) -> Path:
    """A copy of `two_saves` for one test."""
    return shutil.copytree(two_saves, tmp_path / "checkpoints")
