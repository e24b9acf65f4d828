"""The command line: it teaches, and a mistake ends in a message that says what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.cluster", *arguments], capture_output=True, text=True, check=False
    )


def test_help_names_every_command() -> None:
    finished = harness("--help")
    assert finished.returncode == 0
    assert all(command in finished.stdout for command in ("up", "status", "load", "down", "tools"))


@pytest.mark.parametrize("name", ["Upper", "-dash", "dash-", "9lives", "under_score", "", "x" * 31])
def test_a_name_that_no_node_could_have_is_refused(name: str, own_cache: Path) -> None:
    finished = harness("up", f"--name={name}")
    assert finished.returncode == 1
    assert "cannot name a cluster" in finished.stderr
    assert "--name trainyard-2" in finished.stderr
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize("arguments", [["status"], ["load", "trainer"]])
def test_without_a_cluster_the_message_says_how_to_bring_it_up(arguments: list[str], own_cache: Path) -> None:
    finished = harness(*arguments)
    assert finished.returncode == 1
    assert "there is no cluster 'trainyard'" in finished.stderr
    assert "python -m tests.cluster up --name trainyard" in finished.stderr


def test_down_without_a_cluster_succeeds_and_says_so(own_cache: Path) -> None:
    finished = harness("down")
    assert finished.returncode == 0
    assert "there was no cluster trainyard" in finished.stderr


def test_an_unknown_command_is_a_usage_error() -> None:
    finished = harness("upp")
    assert finished.returncode == 2
    assert "Traceback" not in finished.stderr
