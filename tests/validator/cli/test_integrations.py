"""Integrations that call the command: pre-commit, GitHub Actions and Helm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
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


RECORDER = """\
#!/bin/sh
[ "$1" != -m ] || { mkdir -p "$3/bin"; cp "$0" "$3/bin/pip"; }
[ "$1" = -m ] || echo "$*" >> "$RECORD"
"""


def record_installation(script: str, folder: Path, **variables: str) -> list[str]:
    """Runs a script with a Python that records what pip installs."""
    (folder / "python3").write_text(RECORDER)
    (folder / "python3").chmod(0o755)
    found = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(folder / "record"), **variables}
    subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=found, check=True)
    return (folder / "record").read_text().splitlines()


def installs_only_what_is_locked(commands: list[str], source: Path) -> bool:
    locked, package = commands
    return locked.endswith(f"--require-hashes --requirement {source}/requirements-lint.lock") and package.endswith(
        f"--no-deps --no-build-isolation {source}"
    )


def test_the_action_installs_only_packages_with_the_hashes_of_its_lock(folder: Path) -> None:
    script = ACTION["runs"]["steps"][1]["run"]
    paths = {"PYTHON": str(folder / "python3"), "RUNNER_TEMP": str(folder / "runner")}
    commands = record_installation(script, folder, SOURCE=str(ROOT), VERSION="", REPOSITORY="", **paths)
    assert installs_only_what_is_locked(commands, ROOT)


def test_the_action_installs_another_version_with_the_lock_of_that_version(folder: Path) -> None:
    repository = folder / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "first"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    script = ACTION["runs"]["steps"][1]["run"]
    paths = {"PYTHON": str(folder / "python3"), "RUNNER_TEMP": str(folder / "runner")}
    commands = record_installation(script, folder, SOURCE="", VERSION="v1", REPOSITORY=str(repository), **paths)
    assert installs_only_what_is_locked(commands, folder / "runner/trainyard-source")


@pytest.mark.parametrize("event", ["install", "update"])
def test_the_plugin_installs_only_packages_with_the_hashes_of_its_lock(folder: Path, event: str) -> None:
    pip = folder / "build/helm-plugin/bin/pip"
    pip.parent.mkdir(parents=True)
    pip.write_text(RECORDER)
    pip.chmod(0o755)
    commands = record_installation(PLUGIN["hooks"][event], folder, HELM_PLUGIN_DIR=str(folder))
    assert installs_only_what_is_locked(commands, folder)


def test_the_lock_has_the_pins_of_the_tests() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    locked = re.findall(r"^\S+==\S+", (ROOT / "requirements-lint.lock").read_text(), re.MULTILINE)
    assert sorted(locked) == sorted([*groups["build"], *groups["validator"]])


def test_the_action_passes_its_inputs_in_the_environment_only() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input in the text of a script would be run as a script"


def test_the_action_sets_up_its_own_python() -> None:
    setup, install, _ = ACTION["runs"]["steps"]
    assert setup["uses"].startswith("actions/setup-python@")
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
