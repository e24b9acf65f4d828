"""Integrations that call the command: pre-commit, GitHub Actions and Helm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard import __version__
from trainyard.cli import main

ROOT = Path(__file__).parents[3]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PLUGIN = yaml.safe_load((ROOT / "plugin.yaml").read_text())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.yaml").write_text(CLEAN)
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    (tmp_path / "ci.yaml").write_text("on: push\n")
    return tmp_path


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_accepts_any_changed_files(hook: dict[str, Any]) -> None:
    program, *arguments = hook["entry"].split()
    assert program == "trainyard"
    assert main.main([*arguments, "clean.yaml", "ci.yaml"]) == 0
    assert main.main([*arguments, "ci.yaml"]) == 0
    assert main.main([*arguments, "faulty.yaml", "ci.yaml"]) == (1 if "lint" in arguments else 0)


@pytest.mark.parametrize(("paths", "code"), [("clean.yaml", 0), ("clean.yaml faulty.yaml", 1), ("ci.yaml", 3)])
def test_the_action_annotates_and_writes_a_sarif_file(folder: Path, paths: str, code: int) -> None:
    program = folder / "runner/trainyard/bin/trainyard"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}/validator" exec "{sys.executable}" -m trainyard "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(folder / "runner"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "PATHS": paths,
        "ARGUMENTS": "--target nccl=2.21",
    }
    script = ACTION["runs"]["steps"][-1]["run"]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (code, "")
    assert result.stdout.startswith("::error file=") == (code != 0)
    sarif = Path((folder / "output").read_text().strip().removeprefix("sarif="))
    assert sarif.read_text().startswith("{")


def test_the_action_passes_its_inputs_in_the_environment_only() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "an input in the text of a script would be run as a script"


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert PLUGIN["version"] == __version__
