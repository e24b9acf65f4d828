"""Training continues while a checkpoint is written, and the checkpoint has the step at which it was requested."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.trainer.fake_strategy import FakeStrategy, new_manager, train_state_at
from tests.trainer.faulty_disk import FaultyDisk
from trainer.checkpoint.background import BackgroundSave
from trainer.checkpoint.files import DigestingFileSystem
from trainer.checkpoint.manager import CheckpointManager
from trainer.checkpoint.manifest import write_manifest
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.plan import Plans
from trainer.checkpoint.staging import Staged, Stager
from trainer.checkpoint.tensors import read_model, write_tensors
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
# How long a test observes that a call is blocked, and when a hanging test fails.
LOOK_SECONDS = 0.1
HANGS_AFTER_SECONDS = 60


@pytest.fixture
def strategy() -> FakeStrategy:
    """The strategy whose state is saved."""
    return FakeStrategy()


@pytest.fixture
def manager(tmp_path: Path, strategy: FakeStrategy) -> Iterator[CheckpointManager]:
    """The manager of a new run."""
    manager = new_manager(tmp_path, strategy)
    manager.resume()
    yield manager
    manager.close()


@contextmanager
def waiting(call: Callable[[], None], until: threading.Event) -> Iterator[None]:
    """Asserts that `call` blocks during this context and returns once `until` is set."""
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
    """Delays the copies of tensors until the event is set."""
    ready = threading.Event()
    copied = Stager._copied

    def copy_late(stager: Stager, name: str, tensor: Tensor) -> Tensor:
        ready.wait(HANGS_AFTER_SECONDS)
        return copied(stager, name, tensor)

    monkeypatch.setattr(Stager, "_copied", copy_late)
    return ready


def disk_waits(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Delays all writes until the event is set."""
    ready = threading.Event()
    disk = FaultyDisk(monkeypatch)
    disk.before = lambda _: ready.wait(HANGS_AFTER_SECONDS)
    return ready


def test_weights_that_change_while_the_disk_is_slow_are_not_in_the_checkpoint(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ready = disk_waits(monkeypatch)
    manager.save(strategy.train_to(1))
    manager.wait_for_staging()
    strategy.train_to(2)
    assert manager.metrics.saved == 0
    ready.set()
    manager.close()
    resumed = FakeStrategy()
    again = new_manager(tmp_path, resumed)
    assert again.resume() == train_state_at(1)
    assert resumed.is_at(1)
    again.close()


def test_a_second_save_waits_for_the_first(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = disk_waits(monkeypatch)
    manager.save(strategy.train_to(1))
    manager.wait_for_staging()
    with waiting(lambda: manager.save(strategy.train_to(2)), until=ready):
        assert manager.metrics.saved == 0
    manager.wait(required=True)
    assert (manager.metrics.saved, manager.metrics.newest_step) == (2, 2)


def test_an_update_waits_until_the_tensors_are_copied(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = copied_late(monkeypatch)
    manager.save(strategy.train_to(1))
    with waiting(manager.wait_for_staging, until=ready):
        pass
    assert manager.metrics.stall_seconds >= LOOK_SECONDS


def test_the_memory_of_copies_is_reused() -> None:
    stager = Stager(torch.device("cpu"), Peers())
    weight, bias = torch.zeros(8), torch.zeros(2)
    addresses = []
    for value in (1.0, 2.0):
        weight.fill_(value)
        stager.begin()
        staged = stager.stage({"model.weight": weight, "model.bias": bias})
        assert torch.equal(staged.copies["model.weight"], weight)
        addresses.append([copy.data_ptr() for copy in staged.copies.values()])
    assert addresses[0] == addresses[1]


@pytest.mark.parametrize(
    "other", [torch.zeros(4), torch.zeros(16), torch.zeros(8, dtype=torch.float64), torch.zeros(2, 4)]
)
def test_a_tensor_of_another_shape_or_type_is_copied_to_new_memory(other: Tensor) -> None:
    stager = Stager(torch.device("cpu"), Peers())
    for tensor in (torch.ones(8), other):
        stager.begin()
        copy = stager.stage({"model.weight": tensor}).copies["model.weight"]
        assert copy.shape == tensor.shape
        assert copy.dtype == tensor.dtype
        assert torch.equal(copy, tensor)
        assert copy.data_ptr() != tensor.data_ptr()


def test_tensors_that_are_copies_already_are_taken_as_they_are() -> None:
    stager = Stager(torch.device("cpu"), Peers())
    tensor = torch.ones(8)
    stager.begin()
    staged = stager.stage(state={"model.weight": tensor}, copied=True)
    assert staged.copies["model.weight"].data_ptr() == tensor.data_ptr()
    stager.wait()


def test_tensors_made_for_a_save_are_freed_when_they_are_copied() -> None:
    stager = Stager(torch.device("cpu"), Peers())
    gathered = torch.ones(8)
    alive = weakref.ref(gathered)
    state = {"model.weight": gathered}
    del gathered
    stager.begin()
    staged = stager.stage(state)
    assert alive() is None
    assert torch.equal(staged.copies["model.weight"], torch.ones(8))


def test_buffers_that_a_forward_changes_are_copied_at_once(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ready = copied_late(monkeypatch)
    average: Any = strategy.tensors["model.0"]
    strategy.model.register_buffer("0", average.detach())
    manager.save(strategy.train_to(1))
    with torch.no_grad():
        average.zero_()
    ready.set()
    manager.close()
    monkeypatch.undo()
    resumed = FakeStrategy()
    again = new_manager(tmp_path, resumed)
    again.resume()
    assert resumed.is_at(1)
    again.close()


def test_metrics_count_saves_and_their_duration(manager: CheckpointManager, strategy: FakeStrategy) -> None:
    assert manager.metrics.newest_step is None
    for step in (1, 2):
        manager.save(strategy.train_to(step))
    manager.wait()
    metrics = manager.metrics
    assert (metrics.saved, metrics.failed, metrics.newest_step) == (2, 0, 2)
    assert metrics.save_seconds > 0
    assert metrics.newest_time is not None


def test_the_seconds_of_saves_and_of_waiting_for_them_add_up(
    tmp_path: Path, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each save reads the clock when training stops, when writing begins and ends, and when training continues.
    readings = iter([100.0, 103.0, 110.0, 120.0, 200.0, 201.0, 205.0, 230.0])
    clock = SimpleNamespace(monotonic=lambda: next(readings), time=lambda: 7.0)
    monkeypatch.setattr("trainer.checkpoint.manager.time", clock)
    manager = new_manager(tmp_path, strategy, async_checkpoints=False)
    manager.resume()
    for step in (1, 2):
        manager.save(strategy.train_to(step))
    manager.close()
    metrics = manager.metrics
    assert (metrics.save_seconds, metrics.stall_seconds, metrics.newest_time) == (7.0 + 4.0, 20.0 + 30.0, 7.0)


def test_a_save_does_not_keep_a_process_alive_that_exits() -> None:
    daemons: list[bool] = []
    BackgroundSave(lambda: daemons.append(threading.current_thread().daemon)).wait()
    assert daemons == [True]


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_first_rank_holds_the_description_of_all_tensors(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    peers = Peers()
    peers.rank, peers.size = rank, 2
    monkeypatch.setattr(peers, "on_all_ranks", lambda act: [act()] * 2)
    plan = Plans(peers).plan_for({"model.weight": torch.ones(2)})
    assert plan.names == ({"model.weight"} if rank == 0 else set())
    if rank:
        assert plan.metadata is None
    else:
        assert plan.metadata is not None
        assert plan.metadata.state_dict_metadata.keys() == {"model.weight"}
        assert plan.metadata.planner_data is None, "nothing but tensors"


@pytest.fixture
def staged() -> Staged:
    """A tensor, staged by a process without others."""
    return Stager(torch.device("cpu"), Peers()).stage({"model.weight": torch.ones(2)})


def test_tensors_are_never_written_into_another_checkpoint(tmp_path: Path, staged: Staged) -> None:
    (tmp_path / ".metadata").write_text("other")
    with pytest.raises(CheckpointError, match="already exists"):
        write_tensors(tmp_path, DigestingFileSystem(), staged, Peers())
    assert (tmp_path / ".metadata").read_text() == "other"


def test_weights_that_cannot_be_decoded_are_named_with_their_checkpoint(tmp_path: Path, staged: Staged) -> None:
    files = DigestingFileSystem()
    write_tensors(tmp_path, files, staged, Peers())
    write_manifest(tmp_path, files.entries)
    (tmp_path / "__0_0.distcp").write_bytes(b"")
    with pytest.raises(CheckpointError, match=f"^checkpoint {tmp_path}: cannot read its tensors: "):
        read_model(tmp_path)


def test_a_step_that_is_saved_is_not_saved_again(
    manager: CheckpointManager, strategy: FakeStrategy, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        manager.save(strategy.train_to(1))
        manager.wait(required=True)
    assert capsys.readouterr().out.count("checkpoint saved: ") == 1


def test_the_thread_that_copies_touches_no_gpu_but_that_of_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    # There is no GPU here. The context of the stream is PyTorch's own, and the calls to the driver are recorded.
    current, touched = threading.local(), []
    current.device = 3
    fourth = SimpleNamespace(device=torch.device("cuda", 3), synchronize=lambda: None)

    def current_stream(_: object = None) -> SimpleNamespace:
        return SimpleNamespace(device=torch.device("cuda", getattr(current, "device", 0)))

    def set_stream(stream: SimpleNamespace) -> None:
        touched.append(stream.device.index)

    def set_device(device: torch.device) -> None:
        current.device = device.index

    monkeypatch.setattr("torch.cuda.current_stream", current_stream)
    monkeypatch.setattr("torch.cuda.set_stream", set_stream)
    monkeypatch.setattr("torch.cuda.set_device", set_device)
    monkeypatch.setattr("torch.cuda._get_device_index", lambda *_: 0)
    monkeypatch.setattr("torch.cuda.device", lambda _: nullcontext())
    stager = Stager(torch.device("cpu"), Peers())
    monkeypatch.setattr(stager, "_stream", fourth)

    thread = threading.Thread(target=stager.stage, args=({"weight": torch.ones(2)},))
    thread.start()
    thread.join()

    assert stager.copies
    assert set(touched) == {3}
