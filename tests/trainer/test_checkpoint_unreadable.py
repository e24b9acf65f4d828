"""A checkpoint that another program wrote is refused, and nothing of it is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.trainer.fake_strategy import FakeStrategy, new_manager, train_state_at
from tests.trainer.forgery import forge, forge_format, forge_state
from trainer.checkpoint.catalog import list_checkpoints, require_newest_valid, valid_checkpoints
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def another_format(path: Path) -> None:
    forge_format(path, 4)


def format_without_digest(path: Path) -> None:
    """Writes a manifest as a version of the trainer did whose manifests had no digest of their own."""
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({"format": 1, "files": manifest["files"]}))


def later_state(path: Path) -> None:
    forge_state(path, tokens=7)
    forge_format(path, 4)


def another_pytorch(path: Path) -> None:
    """Writes metadata as a later PyTorch would, with a class that this one does not have."""
    forge_state(path, torch="9.1.0+cu140")
    forge(path, ".metadata", b"\x80\x02ctorch.distributed.checkpoint.metadata\nLaterMetadata\n.")


def earlier_pytorch(path: Path) -> None:
    """Writes metadata as an earlier PyTorch did, with a class that this one does not have any more."""
    forge_state(path, torch="1.13.1")
    forge(path, ".metadata", b"\x80\x02ctorch.distributed.checkpoint.metadata\nEarlierMetadata\n.")


def plain_dcp(path: Path) -> None:
    for name in ("manifest.json", "state.json"):
        (path / name).unlink()


CASES = [
    (another_format, "format 4, but this version of the trainer reads formats 2 and 3"),
    (format_without_digest, "format 1, but this version of the trainer reads formats 2 and 3"),
    (later_state, "format 4, but this version of the trainer reads formats 2 and 3"),
    (another_pytorch, "PyTorch 9.1.0.cu140 wrote it .* use an image with PyTorch 9.1"),
    (earlier_pytorch, "PyTorch 1.13.1 wrote it .* use an image with PyTorch 1.13"),
    (plain_dcp, "no manifest.json: another program wrote it with torch.distributed.checkpoint"),
]


@pytest.mark.parametrize(("change", "reason"), CASES, ids=[change.__name__ for change, _ in CASES])
def test_the_run_stops_and_changes_nothing(directory: Path, change: Callable[[Path], None], reason: str) -> None:
    path = directory / "step-00000002"
    change(path)
    manager = new_manager(directory, FakeStrategy())
    with pytest.raises(CheckpointError, match=f"cannot read checkpoint {path}: .*{reason}.*; nothing was changed"):
        manager.resume()
    manager.close()
    assert [step for step, _ in list_checkpoints(directory)] == [2, 1]


def test_damaged_metadata_of_another_patch_release_of_pytorch_are_passed_over(directory: Path) -> None:
    path = directory / "step-00000002"
    forge_state(path, torch=f"{'.'.join(torch.__version__.split('.')[:2])}.99+cu140")
    forge(path, ".metadata", b"")
    manager = new_manager(directory, FakeStrategy())
    assert manager.resume() == train_state_at(1)
    manager.close()


def test_start_afresh_passes_over_it(directory: Path) -> None:
    another_format(directory / "step-00000002")
    manager = new_manager(directory, FakeStrategy(), start_afresh=True)
    assert manager.resume() == train_state_at(1)
    manager.close()
    assert (directory / ".invalid-step-00000002").is_dir()


def test_only_who_asks_for_it_passes_over_it(directory: Path) -> None:
    another_format(directory / "step-00000002")
    with pytest.raises(CheckpointError, match=r"cannot read checkpoint .*; nothing was changed"):
        require_newest_valid(directory)
    ((_, state),) = valid_checkpoints(directory=directory, peers=Peers(), skip_unreadable=True)
    assert state.train_state == train_state_at(1)
