"""The scripts of the recipes, with the trainer installed as users install it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.launch import TIMEOUT_SECONDS
from trainer.library import seal

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "recipes"
TRAINER = ROOT / "trainer"
BUILD = "from setuptools import build_meta; build_meta.build_wheel('dist')"
MANY = "1000000"
DEEPSPEED = {
    "train_micro_batch_size_per_gpu": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 0.003, "torch_adam": True}},
}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel."""
    source = tmp_path_factory.mktemp("source") / "trainer"
    shutil.copytree(TRAINER, source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    built = subprocess.run([sys.executable, "-c", BUILD], cwd=source, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = (source / "dist").glob("trainyard_trainer-*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@contextmanager
def running(installed: Path, *command: object) -> Iterator[subprocess.Popen[str]]:
    """Starts Python with `command` and kills it and its children at the end."""
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        env=ENVIRONMENT | {"PYTHONPATH": str(installed)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    # A run that hangs ends its output, and so the wait for a line of it.
    limit = threading.Timer(TIMEOUT_SECONDS, kill, [process.pid])
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        kill(process.pid)
        process.wait()


def kill(process: int) -> None:
    """Kills a process and its children."""
    for one in (*children(process), process):
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def children(process: int) -> list[int]:
    """Returns the processes that `process` has started."""
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


def read_until(process: subprocess.Popen[str], pattern: str) -> list[str]:
    """Reads the output up to a line that matches, or to its end."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            break
    return lines


def test_the_wheel_has_all_modules_and_nothing_else(installed: Path) -> None:
    modules = {path.relative_to(TRAINER) for path in TRAINER.rglob("*.py") if "__pycache__" not in path.parts}

    found = {path.relative_to(installed / "trainyard_trainer") for path in installed.rglob("*.py")}

    assert found == modules
    assert (installed / "trainyard_trainer" / "py.typed").exists()


def test_sigterm_for_one_rank_stops_all_after_the_same_save_and_one_rank_continues(
    installed: Path, tmp_path: Path
) -> None:
    script, folder = RECIPES / "torchrun-script" / "train.py", tmp_path / "checkpoints"
    torchrun = ("-m", "tests.harness.trainer.torchrun", "--standalone")
    with running(installed, *torchrun, "--nproc-per-node", 2, script, folder, MANY) as run:
        read_until(run, "checkpoint saved: step=8 ")
        # torchrun itself would forward the signal to all ranks.
        os.kill(children(run.pid)[0], signal.SIGTERM)
        stopped = read_until(run, "no line")
        assert run.wait() == 1
    saves = re.findall(r"checkpoint saved: step=(\d+)", "".join(stopped))
    assert re.search(r"exitcode\s*: 143", "".join(stopped)), stopped

    with running(installed, *torchrun, "--nproc-per-node", 1, script, folder, MANY) as run:
        continued = read_until(run, "resumed: ")
    assert f"resumed: step={saves[-1]} " in continued[-1]


def test_transformers_trainer_saves_after_sigterm_and_continues_from_the_sealed_checkpoint(
    installed: Path, tmp_path: Path
) -> None:
    script, folder = RECIPES / "huggingface-trainer" / "train.py", tmp_path / "checkpoints"
    with running(installed, script, folder, MANY) as run:
        read_until(run, "'loss'")
        os.kill(run.pid, signal.SIGTERM)
        read_until(run, "no line")
        assert run.wait() == 128 + signal.SIGTERM
    steps = max(int(path.name.removeprefix("checkpoint-")) for path in folder.glob("checkpoint-*"))
    assert (folder / f"checkpoint-{steps}" / "manifest.json").exists()
    assert steps % 20, "SIGTERM has saved a step that was due anyway"


@pytest.mark.parametrize("recipe", ["deepspeed", "huggingface-trainer", "lightning"])
def test_a_recipe_does_not_train_from_step_0_if_all_sealed_checkpoints_have_changed(
    installed: Path, tmp_path: Path, recipe: str
) -> None:
    folder, configuration = tmp_path / "checkpoints", tmp_path / "deepspeed.json"
    (folder / "checkpoint-8").mkdir(parents=True)
    seal(folder / "checkpoint-8")
    (folder / "checkpoint-8" / "manifest.json").write_text("{}")
    configuration.write_text(json.dumps(DEEPSPEED))
    options = ("--deepspeed_config", configuration) if recipe == "deepspeed" else ()

    torchrun = ("-m", "tests.harness.trainer.torchrun", "--standalone", "--nproc-per-node", 1)
    with running(installed, *torchrun, RECIPES / recipe / "train.py", folder, 1, *options) as run:
        log = "".join(read_until(run, "no line"))
        assert run.wait() == 1, log

    assert f"CheckpointError: none of the 1 sealed checkpoints in {folder} is valid, as stated above" in log
    assert "finished: " not in log
    assert [path.name for path in folder.iterdir()] == ["checkpoint-8"], "nothing was changed"


@pytest.mark.parametrize(
    ("recipe", "ranks", "length", "steps"),
    # Rank 1 has nothing to do while rank 0 seals, and must not take that for a hang in its next step.
    [("torchrun-script", 1, 1, 16), ("deepspeed", 2, 9, 9)],
)
def test_a_save_that_takes_longer_than_a_step_does_not_look_like_a_hang(
    installed: Path, tmp_path: Path, recipe: str, ranks: int, length: int, steps: int
) -> None:
    configuration = tmp_path / "deepspeed.json"
    configuration.write_text(json.dumps(DEEPSPEED))
    options = ("--deepspeed_config", configuration) if recipe == "deepspeed" else ()
    script = (RECIPES / recipe / "train.py", tmp_path / "checkpoints", length, *options)

    torchrun = ("-m", "tests.harness.trainer.torchrun", "--standalone", "--nproc-per-node", ranks)
    with running(installed, *torchrun, "-m", "tests.trainer.slow_saves", *script) as run:
        log = "".join(read_until(run, "no line"))
        assert run.wait() == 0, log
    assert f"finished: ranks={ranks} steps={steps}\n" in log


def test_the_linter_finds_nothing_in_the_recipes() -> None:
    linted = subprocess.run(
        [sys.executable, "-m", "trainyard", "lint", RECIPES], capture_output=True, text=True, check=False
    )

    assert linted.stdout.startswith(f"Nothing found in {len(list(RECIPES.glob('*/values.yaml')))} files"), linted.stdout


@pytest.mark.parametrize("recipe", sorted(path.parent.name for path in RECIPES.glob("*/Dockerfile")))
def test_the_image_of_a_recipe_has_the_pinned_packages(recipe: str) -> None:
    found = set(re.findall(r"\S+==\S+", (RECIPES / recipe / "Dockerfile").read_text()))

    assert found <= pinned("trainer", "launchers", "recipes", "titan")
    assert any(pin.startswith("torch==") for pin in found)


def test_the_readme_adds_the_pinned_packages_to_the_image() -> None:
    found = set(re.findall(r"^RUN .* (\S+==\S+)$", (TRAINER / "README.md").read_text(), re.MULTILINE))

    assert {pin.partition("==")[0] for pin in found} == {"deepspeed", "mlflow-skinny"}
    assert found <= pinned("launchers", "mlflow")


def pinned(*names: str) -> set[str]:
    """Returns the pins of these groups."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return {pin for name in names for pin in groups[name]}
