"""Checkpoints that older versions of PyTorch wrote (`make torch-versions`) are continued from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.harness.trainer.launch import start
from tools.torch_versions import installs, trials

KEPT = Path(__file__).parent / "older_checkpoints"


@pytest.mark.parametrize("release", installs.OLDER)
@pytest.mark.parametrize("strategy", trials.STRATEGIES)
def test_a_checkpoint_of_an_older_pytorch_is_continued_from(tmp_path: Path, release: str, strategy: str) -> None:
    folder = tmp_path / "checkpoints"
    shutil.copytree(KEPT / f"{release}-{strategy}", folder)
    flags = (*trials.FLAGS, f"--strategy={strategy}", f"--steps={trials.SAVED + 1}")

    finished = start(folder, *flags, processes=trials.RANKS).finish()

    assert finished.errors == []
    assert finished.returncode == 0
    assert any(line.startswith(f"resumed: epoch=0 step={trials.SAVED} ") for line in finished.lines)
