"""Training goes on while a checkpoint is written, and the checkpoint is of the step that it was asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from trainer.checkpoint.manager import CheckpointManager
from trainer.checkpoint.staging import Stager

from .disk import Disk
from .toy import Toy, manager_of, progress_at

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
# How long a test looks whether what must wait goes on all the same; and after which one that hangs fails.
LOOK_SECONDS = 0.1
HANGS_AFTER_SECONDS = 60


@pytest.fixture
def toy() -> Toy:
    """What is saved."""
    return Toy()


@pytest.fixture
def manager(tmp_path: Path, toy: Toy) -> Iterator[CheckpointManager]:
    """That of a run that has just begun."""
    manager = manager_of(tmp_path, toy)
    manager.resume()
    yield manager
    manager.close()


@contextmanager
def waiting(call: Callable[[], None], until: threading.Event) -> Iterator[None]:
    """`call` waits, as long as this context lasts, and returns when `until` is set."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(LOOK_SECONDS)
    try:
        assert thread.is_alive()
        yield
    finally:
        until.set()
    thread.join(HANGS_AFTER_SECONDS)
    assert not thread.is_alive()


def copied_late(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """From now on tensors are copied when the event is set."""
    ready = threading.Event()
    copied = Stager._copied

    def copy_late(stager: Stager, name: str, tensor: Tensor) -> Tensor:
        ready.wait(HANGS_AFTER_SECONDS)
        return copied(stager, name, tensor)

    monkeypatch.setattr(Stager, "_copied", copy_late)
    return ready


def disk_waits(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """From now on nothing is written before the event is set."""
    ready = threading.Event()
    disk = Disk(monkeypatch)
    disk.before = lambda _: ready.wait(HANGS_AFTER_SECONDS)
    return ready


def test_weights_that_change_while_the_disk_is_slow_are_not_in_the_checkpoint(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ready = disk_waits(monkeypatch)
    manager.save(toy.train_to(1))
    manager.before_update()
    toy.train_to(2)
    assert manager.figures.saved == 0
    ready.set()
    manager.close()
    resumed = Toy()
    again = manager_of(tmp_path, resumed)
    assert again.resume() == progress_at(1)
    assert resumed.is_at(1)
    again.close()


def test_a_second_save_waits_for_the_first(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = disk_waits(monkeypatch)
    manager.save(toy.train_to(1))
    manager.before_update()
    with waiting(lambda: manager.save(toy.train_to(2)), until=ready):
        assert manager.figures.saved == 0
    manager.wait(required=True)
    assert (manager.figures.saved, manager.figures.newest_step) == (2, 2)


def test_an_update_waits_until_the_tensors_are_copied(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = copied_late(monkeypatch)
    manager.save(toy.train_to(1))
    with waiting(manager.before_update, until=ready):
        pass
    assert manager.figures.stall_seconds >= LOOK_SECONDS


def test_the_memory_of_copies_is_used_again() -> None:
    stager = Stager(torch.device("cpu"))
    state = {"model.weight": torch.zeros(8), "model.bias": torch.zeros(2)}
    addresses = []
    for value in (1.0, 2.0):
        state["model.weight"].fill_(value)
        stager.begin()
        stager.copy(state)
        assert torch.equal(stager.copies["model.weight"], state["model.weight"])
        addresses.append([copy.data_ptr() for copy in stager.copies.values()])
    assert addresses[0] == addresses[1]


def test_averages_that_a_forward_changes_are_copied_at_once(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ready = copied_late(monkeypatch)
    average: Any = toy.tensors["model.0"]
    toy.model.register_buffer("0", average.detach())
    manager.save(toy.train_to(1))
    with torch.no_grad():
        average.zero_()
    ready.set()
    manager.close()
    monkeypatch.undo()
    resumed = Toy()
    again = manager_of(tmp_path, resumed)
    again.resume()
    assert resumed.is_at(1)
    again.close()


def test_the_figures_say_what_was_saved_and_how_long_it_took(manager: CheckpointManager, toy: Toy) -> None:
    assert manager.figures.newest_step is None
    for step in (1, 2):
        manager.save(toy.train_to(step))
    manager.wait()
    figures = manager.figures
    assert (figures.saved, figures.failed, figures.newest_step) == (2, 0, 2)
    assert figures.save_seconds > 0
    assert figures.newest_time is not None


def test_a_step_that_is_saved_is_not_saved_again(
    manager: CheckpointManager, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        manager.save(toy.train_to(1))
        manager.wait(required=True)
    assert capsys.readouterr().out.count("checkpoint saved: ") == 1
