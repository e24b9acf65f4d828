"""The parts of the trainer in a script of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from trainer.checkpoint import manifest
from trainer.errors import CheckpointError
from trainer.library import Checkpoints, newest_sealed, seal
from trainer.runtime.distributed import World


class Script:
    """The model, the optimizer and the checkpoints of one start of a script."""

    def __init__(self, folder: Path, *, width: int = 4, keep: int = 3) -> None:
        self.model = nn.Linear(width, 1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1, betas=(0.8, 0.95))
        self.checkpoints = Checkpoints(folder, self.model, self.optimizer, keep=keep)

    def take_step(self) -> None:
        """Changes the weights and the state of the optimizer."""
        self.model(torch.ones(1, self.model.in_features)).sum().backward()
        self.optimizer.step()

    def close(self) -> None:
        """Ends as the process does."""
        self.checkpoints.wait()
        self.checkpoints._lock.release()


@pytest.fixture
def saved(tmp_path: Path, alone: World) -> Path:
    """The folder of a script that has saved steps 1 and 2; its last weights are beside it."""
    script = Script(tmp_path / "checkpoints")
    assert script.checkpoints.resume() is None
    for step in (1, 2):
        script.take_step()
        script.checkpoints.save(step, {"step": step, "seen": [step, "files"]})
    script.close()
    torch.save(script.model.state_dict(), tmp_path / "weights.pt")
    return tmp_path / "checkpoints"


def test_a_script_continues_with_the_weights_the_optimizer_and_the_progress_of_its_last_save(saved: Path) -> None:
    script = Script(saved)
    weights = torch.load(saved.with_name("weights.pt"))

    assert script.checkpoints.resume() == {"step": 2, "seen": [2, "files"]}

    assert all(torch.equal(tensor, weights[name]) for name, tensor in script.model.state_dict().items())
    assert script.optimizer.param_groups[0]["betas"] == (0.8, 0.95)
    assert int(script.optimizer.state[script.model.weight]["step"]) == 2
    script.close()


def test_a_changed_byte_makes_the_script_continue_from_the_save_before(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tensors,) = (saved / "step-00000002").glob("*.distcp")
    content = bytearray(tensors.read_bytes())
    content[len(content) // 2] ^= 1
    tensors.write_bytes(content)
    script = Script(saved)

    assert script.checkpoints.resume() == {"step": 1, "seen": [1, "files"]}

    assert "skipped invalid checkpoint" in capsys.readouterr().out
    script.close()


def test_a_model_of_another_size_stops_the_script_and_changes_nothing(saved: Path) -> None:
    before = sorted(path.name for path in saved.iterdir())
    script = Script(saved, width=5)

    with pytest.raises(CheckpointError, match="none of the 2 checkpoints"):
        script.checkpoints.resume()

    assert sorted(path.name for path in saved.iterdir()) == before
    script.close()


def test_a_checkpoint_of_the_trainer_itself_is_refused(trained: Path, alone: World) -> None:
    script = Script(trained)

    with pytest.raises(CheckpointError, match="is of another program, such as `python -m trainer`"):
        script.checkpoints.resume()

    script.close()


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path, alone: World) -> None:
    script = Script(tmp_path, keep=2)
    script.checkpoints.resume()
    for step in range(1, 5):
        script.checkpoints.save(step, {})
    script.close()

    assert sorted(path.name for path in tmp_path.glob("step-*")) == ["step-00000003", "step-00000004"]


def test_progress_that_json_does_not_have_is_refused_before_anything_is_written(tmp_path: Path, alone: World) -> None:
    script = Script(tmp_path)
    script.checkpoints.resume()

    with pytest.raises(TypeError, match="not JSON serializable"):
        script.checkpoints.save(1, {"weights": torch.zeros(1)})

    script.close()
    assert not list(tmp_path.glob("step-*"))


def checkpoint(folder: Path, step: int) -> Path:
    """Returns a folder as another library writes it, with a file in a folder of its own."""
    path = folder / f"checkpoint-{step}"
    (path / "shards").mkdir(parents=True)
    (path / "shards" / "rank-0.pt").write_bytes(b"0" * 1000)
    (path / "config.json").write_text("{}")
    return path


def test_the_newest_checkpoint_is_the_one_with_the_largest_number(tmp_path: Path, alone: World) -> None:
    for step in (900, 1000, 80):
        seal(checkpoint(tmp_path, step))

    assert newest_sealed(tmp_path) == str(tmp_path / "checkpoint-1000")


def test_a_checkpoint_that_was_not_written_to_its_end_or_has_changed_is_passed_over(
    tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(checkpoint(tmp_path, 1))
    seal(checkpoint(tmp_path, 2))
    (tmp_path / "checkpoint-2" / "shards" / "rank-0.pt").write_bytes(b"1" * 1000)
    checkpoint(tmp_path, 3)

    assert newest_sealed(tmp_path) == str(tmp_path / "checkpoint-1")

    said = capsys.readouterr().out
    assert "checkpoint-3: cannot read manifest.json" in said
    assert "checkpoint-2: rank-0.pt does not have the sha256 digest" in said


def test_a_checkpoint_of_torch_distributed_is_passed_over_if_the_run_ended_before_it_was_sealed(
    tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(checkpoint(tmp_path, 1))
    (checkpoint(tmp_path, 2) / ".metadata").write_bytes(b"of PyTorch")

    assert newest_sealed(tmp_path) == str(tmp_path / "checkpoint-1")

    assert "checkpoint-2: cannot read manifest.json: the run ended before it was sealed" in capsys.readouterr().out


def test_a_run_does_not_begin_again_if_all_sealed_checkpoints_have_changed(tmp_path: Path, alone: World) -> None:
    for step in (1, 2):
        path = checkpoint(tmp_path, step)
        seal(path)
        (path / "config.json").write_text("[]")
    checkpoint(tmp_path, 3)

    with pytest.raises(CheckpointError, match=f"none of the 2 sealed checkpoints in {tmp_path} is valid, as stated"):
        newest_sealed(tmp_path)


def test_a_run_begins_again_if_no_checkpoint_was_sealed(tmp_path: Path, alone: World) -> None:
    checkpoint(tmp_path, 1)
    (checkpoint(tmp_path, 2) / ".metadata").write_bytes(b"of PyTorch")

    assert newest_sealed(tmp_path) is None


def test_a_checkpoint_with_a_manifest_of_another_format_stops_the_run_and_is_named(
    tmp_path: Path, alone: World
) -> None:
    seal(checkpoint(tmp_path, 1))
    path = checkpoint(tmp_path, 2)
    (path / "manifest.json").write_bytes(manifest.manifest_text(99, {}))

    with pytest.raises(CheckpointError, match=f"cannot read checkpoint {path}: format 99, .* nothing was changed"):
        newest_sealed(tmp_path)


def test_a_checkpoint_that_is_written_again_is_sealed_again(tmp_path: Path, alone: World) -> None:
    path = checkpoint(tmp_path, 1)
    seal(path)
    (path / "config.json").write_text('{"new": true}')
    seal(path)

    assert newest_sealed(tmp_path) == str(path)


def test_a_checkpoint_is_sealed_again_after_a_crash_in_between(tmp_path: Path, alone: World) -> None:
    path = checkpoint(tmp_path, 1)
    (path / ".manifest.json").write_text("{")
    (path / "shards" / "manifest.json").write_text("of the library")
    seal(path)

    assert newest_sealed(tmp_path) == str(path)
    assert "shards/manifest.json" in (path / "manifest.json").read_text()


def test_without_checkpoints_there_is_none_to_continue_from(tmp_path: Path, alone: World) -> None:
    assert newest_sealed(tmp_path / "missing") is None
