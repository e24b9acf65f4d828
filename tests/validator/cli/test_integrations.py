"""Integrations that call the command: pre-commit, GitHub Actions and Helm."""

from __future__ import annotations

import os
import re
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
        "FAIL_ON": "error",
        "BASELINE": "baseline.json",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    (folder / "baseline.json").write_text('{"version": 1, "findings": []}')
    script = ACTION["runs"]["steps"][-1]["run"]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (code, "")
    assert result.stdout.startswith("::error file=") == (code != 0)
    sarif = Path((folder / "output").read_text().strip().removeprefix("sarif="))
    assert sarif.read_text().startswith("{")
    summary = (folder / "summary").read_text()
    assert summary.startswith("### Trainyard\n\n```text\n")
    assert ("Found 1 error" in summary) == (code != 0)


def test_the_action_passes_its_inputs_in_the_environment_only() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input in the text of a script would be run as a script"


def test_the_action_sets_up_its_own_python() -> None:
    setup, install, _ = ACTION["runs"]["steps"]
    assert setup["uses"].startswith("actions/setup-python@v")
    assert install["env"]["PYTHON"] == "${{ steps.python.outputs.python-path }}"


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_leaves_out_what_is_never_a_run(hook: dict[str, Any]) -> None:
    for name in ("charts/llm/charts/db/values.yaml", "charts/llm/tests/job_test.yaml", "web/tsconfig.json"):
        assert re.search(hook["exclude"], name), name
    for name in ("run.yaml", "charts/llm/values.yaml", "charts/llm/templates/job.yaml", "k8s/tests/job.yaml"):
        assert not re.search(hook["exclude"], name), name


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_accepts_templates_and_json_with_comments(hook: dict[str, Any], folder: Path) -> None:
    (folder / "job.yaml").write_text("apiVersion: v1\nkind: Pod\n{{- if .Values.x }}\nspec: {}\n{{- end }}\n")
    (folder / "settings.json").write_text('{\n  // a comment\n  "a": 1,\n}\n')
    _, *arguments = hook["entry"].split()
    assert main.main([*arguments, "job.yaml", "settings.json"]) == 0


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert PLUGIN["version"] == __version__
