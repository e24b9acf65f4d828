"""A checkpoint is published atomically, and existing files are not changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from io import FileIO
from pathlib import Path
from typing import IO, Any

import pytest
import torch

from tests.trainer.fake_strategy import run
from tests.trainer.faulty_disk import file_size_limit
from trainer.checkpoint import files
from trainer.checkpoint.files import DigestingFileSystem, Entry
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.publish import publish
from trainer.errors import CheckpointError

WEIGHTS = torch.zeros(1_000_000)


def writer(value: object) -> Callable[[Path], Mapping[str, Entry]]:
    """Returns a function that writes `value` into a folder."""

    def write(folder: Path) -> Mapping[str, Entry]:
        files = DigestingFileSystem()

        def save(stream: IO[bytes]) -> None:
            torch.save(value, stream)

        files.write(folder / "model.pt", save)
        return files.entries

    return write


def contents(directory: Path) -> dict[str, bytes]:
    """Returns the content of every file below `directory`."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_everything_is_durable_before_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, rename = os.fsync, os.rename

    def recorded_fsync(descriptor: int) -> None:
        fsync(descriptor)
        events.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    def recorded_rename(source: Path, target: Path) -> None:
        rename(source, target)
        events.append(f"{source.name} becomes {target.name}")

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "rename", recorded_rename)
    run(tmp_path, 1)
    temporary = events[-3]
    assert events == [
        "state.json",
        "__0_0.distcp",
        ".metadata.tmp",
        ".metadata.tmp becomes .metadata",
        temporary,
        "manifest.json",
        temporary,
        f"{temporary} becomes step-00000001",
        tmp_path.name,
    ]
    assert temporary.startswith(".tmp-step-00000001-")


def test_all_that_was_written_is_durable_once_the_descriptor_is_synced(tmp_path: Path) -> None:
    # PyTorch 2.13 does not flush before it syncs `.metadata`.
    path = tmp_path / "metadata"
    with DigestingFileSystem().create_stream(path, "wb") as stream:
        stream.write(b"tensors")
        os.fsync(stream.fileno())
        assert path.read_bytes() == b"tensors"


@pytest.mark.parametrize("old", [True, False])
def test_an_existing_checkpoint_is_never_overwritten(tmp_path: Path, old: bool) -> None:
    if old:
        publish(tmp_path / "step-00000001", writer(WEIGHTS), Peers())
    else:
        (tmp_path / "step-00000001").mkdir()
    before = contents(tmp_path)
    with pytest.raises(CheckpointError, match="it exists and is never overwritten"):
        publish(tmp_path / "step-00000001", writer(WEIGHTS + 1), Peers())
    assert contents(tmp_path) == before


# Either the tensor does not fit, or only the last bytes, still buffered when torch.save returns, do not fit.
@pytest.mark.parametrize("size", [2_000_000, 4_000_500])
def test_a_full_disk_is_an_error_that_leaves_nothing_behind(tmp_path: Path, size: int) -> None:
    write = writer(WEIGHTS)
    with pytest.raises(CheckpointError, match=r"^File too large$"), file_size_limit(size):
        publish(tmp_path / "step-00000002", lambda folder: Peers().on_rank_zero(lambda: write(folder)), Peers())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["rb", "w", "xb"])
def test_a_file_is_opened_for_writing_only(tmp_path: Path, mode: str) -> None:
    with (
        pytest.raises(ValueError, match=f"only mode 'wb' is supported, not '{mode}'"),
        DigestingFileSystem().create_stream(tmp_path / "a", mode),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_small_writes_reach_the_disk_a_mebibyte_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Recorded(FileIO):
        def write(self, data: Any, /) -> int:
            sizes.append(len(data))
            return super().write(data)

    monkeypatch.setattr(files, "FileIO", Recorded)
    part = bytes(1 << 16)
    DigestingFileSystem().write(tmp_path / "a", lambda stream: [stream.write(part) for _ in range(40)])
    assert sizes == [1 << 20, 1 << 20, 1 << 19]
