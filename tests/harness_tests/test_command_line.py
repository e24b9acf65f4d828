"""The command line: help, and error messages that state the remedy."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.__main__ import app
from tests.harness.cluster.command import exit_status


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in this process: starting Python for it takes half a second of processor time."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as stdout,
        contextlib.redirect_stderr(io.StringIO()) as stderr,
    ):
        status = exit_status(lambda: app(arguments, prog_name="python -m tests.harness"))
    return subprocess.CompletedProcess(arguments, status, stdout.getvalue(), stderr.getvalue())


def test_help_names_every_command() -> None:
    command = [sys.executable, "-m", "tests.harness", "--help"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0
    assert all(command in finished.stdout for command in ("up", "status", "load", "down", "tools"))


@pytest.mark.parametrize("name", ["Upper", "-dash", "dash-", "9lives", "under_score", "", "x" * 31])
def test_a_name_that_is_invalid_for_a_node_is_refused(name: str, own_cache: Path) -> None:
    finished = harness("up", f"--name={name}")
    assert finished.returncode == 1
    assert "cannot name a cluster" in finished.stderr
    assert "--name trainyard-2" in finished.stderr
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize("arguments", [["status"], ["load", "trainer"]])
def test_without_a_cluster_the_error_names_the_command_that_creates_it(arguments: list[str], own_cache: Path) -> None:
    finished = harness(*arguments)
    assert finished.returncode == 1
    assert "there is no cluster 'trainyard'" in finished.stderr
    assert "python -m tests.harness up --name trainyard" in finished.stderr


def test_down_without_a_cluster_succeeds_with_a_message(own_cache: Path) -> None:
    finished = harness("down")
    assert finished.returncode == 0
    assert "there was no cluster trainyard" in finished.stderr


def test_an_unknown_command_is_a_usage_error() -> None:
    finished = harness("upp")
    assert finished.returncode == 2
    assert "Traceback" not in finished.stderr
