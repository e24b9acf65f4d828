"""The recipe of torchtitan in two processes, with the packages that its image has."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.harness.trainer.environment import ENVIRONMENT

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes" / "torchtitan"
ON_CPU = Path(__file__).with_name("titan_on_cpu.py")

# The installation alone takes minutes where nothing is cached.
pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


def run(*command: str | Path) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the packages of the recipe's image."""
    folder = tmp_path_factory.mktemp("titan")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    pins = re.findall(r"\S+==\S+", (RECIPE / "Dockerfile").read_text())
    assert set(groups["titan"]) < set(pins)
    source = shutil.copytree(ROOT / "trainer", folder / "trainer", ignore=shutil.ignore_patterns("__pycache__"))
    run("uv", "venv", "--quiet", "--clear", folder / "venv")
    interpreter = folder / "venv" / "bin" / "python"
    run("uv", "pip", "install", "--quiet", "--python", interpreter, *pins, source)
    return interpreter


@pytest.fixture
def train(python: Path, tmp_path: Path) -> Sequence[str | Path]:
    """The command that trains in `tmp_path`, without the number of steps."""
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    return (python, *torchrun, ON_CPU, RECIPE / "train.py", tmp_path)


def trained(command: Sequence[str | Path], steps: int) -> str:
    finished = subprocess.run([*command, str(steps)], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert f"finished: ranks=2 steps={steps}" in finished.stdout
    return finished.stdout


def test_torchtitan_continues_from_the_newest_checkpoint_of_which_no_byte_has_changed(
    train: Sequence[str | Path], tmp_path: Path
) -> None:
    trained(train, 6)
    (shard, *_) = (tmp_path / "step-6").glob("__0_*.distcp")
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)

    log = trained(train, 8)

    assert f"skipped checkpoint {tmp_path / 'step-6'}" in log
    assert f"resuming from {tmp_path / 'step-4'}" in log


def test_torchtitan_does_not_train_from_step_0_if_all_sealed_checkpoints_have_changed(
    train: Sequence[str | Path], tmp_path: Path
) -> None:
    (tmp_path / "step-4").mkdir()
    (tmp_path / "step-4" / "manifest.json").write_text("{}")

    ended = subprocess.run([*train, "8"], env=ENVIRONMENT, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "CheckpointError: none of the 1 sealed checkpoints" in ended.stderr


def test_torchtitan_passes_over_a_checkpoint_that_was_not_sealed(train: Sequence[str | Path], tmp_path: Path) -> None:
    trained(train, 6)
    (tmp_path / "step-6" / "manifest.json").unlink()

    log = trained(train, 8)

    assert f"skipped checkpoint {tmp_path / 'step-6'}: cannot read manifest.json: the run ended before" in log
    assert f"resuming from {tmp_path / 'step-4'}" in log


def test_sigterm_for_one_rank_of_torchtitan_stops_both_after_the_same_save(
    train: Sequence[str | Path], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [*train, "1000000"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if re.search(r"step:\S* *5 ", re.sub(r"\x1b\[[0-9;]*m", "", line)):
                break
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait() == 1
    finally:
        process.kill()
        process.wait()

    assert re.search(r"exitcode\s*: 143", rest), rest
    newest = max(int(path.name.removeprefix("step-")) for path in tmp_path.glob("step-*"))
    assert (tmp_path / f"step-{newest}" / "manifest.json").exists()
    assert newest % 4, "SIGTERM has saved a step that was due anyway"
