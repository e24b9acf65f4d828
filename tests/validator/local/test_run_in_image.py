"""`trainyard run --local --image`: nodes as containers."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.cluster import engine, loading
from trainyard.cli import main

ROOT = Path(__file__).parents[3]
VALUES = "nodes: 2\ntrain: {module: trainer, args: [], config: {steps: %d, checkpoint_dir: /checkpoints}}\n"
FAIL = """
import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit("ValueError: gives up")
time.sleep(600)
"""
# An image is loaded once, and a busy machine takes its time.
SECONDS = 600


def called(*arguments: str) -> int:
    Path("run.yaml").write_text("{}")
    return main.main(["run", "-f", "run.yaml", "--local", *arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and the only one in which programs are found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_machine_without_an_engine_is_told_what_to_install(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called("--image", "trainer:1") == 3
    assert "--image needs podman or docker, and this machine has neither" in capsys.readouterr().err


def test_an_image_that_no_engine_has_is_not_pulled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("podman", "docker"):
        (folder / name).write_text("#!/bin/sh\necho $@ >> asked; exit 1\n")
        (folder / name).chmod(stat.S_IRWXU)
    assert called("--image", "trainer:1") == 3
    expected = "--image: trainer:1 is not in the store of podman or docker here: `podman pull trainer:1` fetches it"
    assert expected in capsys.readouterr().err
    assert {line.split()[:2] == ["image", "inspect"] for line in (folder / "asked").read_text().splitlines()} == {True}


@pytest.mark.parametrize("other", [["--debug"], ["--python", "python3"]], ids=" ".join)
def test_an_image_excludes_what_needs_a_process_of_this_machine(
    folder: Path, capsys: pytest.CaptureFixture[str], other: list[str]
) -> None:
    assert called("--image", "trainer:1", *other) == 2
    assert "leave" in capsys.readouterr().err


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command with the image of the tests' trainer, which the engine has afterwards."""
    found = engine.choose()
    reference = loading.OURS["trainer"].reference()
    is_new = not found.has_image(reference)
    if is_new:
        found.check("load", "--input", str(loading.OURS["trainer"].archive()))

    def started(folder: Path, values: str) -> subprocess.Popen[str]:
        (folder / "run.yaml").write_text(values)
        return subprocess.Popen(
            [sys.executable, "-m", "trainyard", "run", "-f", "run.yaml", "--local", "--image", reference],
            cwd=folder,
            env={**os.environ, **found.environment, "PYTHONPATH": str(ROOT / "validator")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    yield started
    assert f"{reference}" not in found.check("ps", "--all", "--format", "{{.Image}}")
    if is_new:
        found.check("rmi", reference)


@pytest.mark.long
@pytest.mark.timeout(2 * SECONDS)
def test_two_nodes_train_in_containers_and_resume_and_leave_no_container(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    for steps in (4, 6):
        out, err = (run := start(tmp_path, VALUES % steps)).communicate(timeout=SECONDS)
        assert run.returncode == 0, err
    assert "resumed: epoch=0 step=4 path=/checkpoints/step-00000004" in out
    (saved, *_) = (tmp_path / "runs/run/checkpoints").glob("step-00000006")
    assert saved.stat().st_uid == os.getuid()


@pytest.mark.long
@pytest.mark.timeout(2 * SECONDS)
def test_a_failure_ends_the_other_container_though_it_ignores_sigterm(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    values = {
        "launcher": "command",
        "nodes": 2,
        "terminationGracePeriodSeconds": 5,
        "train": {"command": ["python3"], "script": "", "args": ["-c", FAIL]},
    }
    _, err = (run := start(tmp_path, json.dumps(values))).communicate(timeout=SECONDS)
    assert run.returncode == 1
    assert err.endswith("first error: [node-1] ValueError: gives up\n")


@pytest.mark.long
@pytest.mark.timeout(2 * SECONDS)
def test_sigterm_reaches_the_containers(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    run = start(tmp_path, VALUES % 10**6)
    until = time.monotonic() + SECONDS
    assert run.stdout is not None
    while time.monotonic() < until and "epoch=1" not in run.stdout.readline():
        pass
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=SECONDS)
    assert run.returncode == 128 + signal.SIGTERM, err
    assert "stopped by SIGTERM: step=" in out
