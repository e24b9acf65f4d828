"""The workflows of GitHub: valid, pinned by digest, without secrets, and with the commands of the README."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import tools

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
USES = re.compile(r"uses:\s*(\S+)(.*)")


def test_actionlint_finds_nothing() -> None:
    command: list[str | Path] = [tools.binary("actionlint"), "-no-color", *WORKFLOWS]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (result.stdout, result.returncode) == ("", 0)


def test_actionlint_finds_a_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("timeout-minutes", "timeout-minute"))
    result = subprocess.run([tools.binary("actionlint"), wrong], capture_output=True, text=True, check=False)
    assert "timeout-minute" in result.stdout


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda file: str(file.name))
def test_every_action_is_pinned_by_the_commit_of_a_release(file: Path) -> None:
    found = USES.findall(file.read_text())
    assert found
    for name, comment in found:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: str(file.stem))
def test_a_workflow_has_no_secret_and_may_only_read_by_default(file: Path) -> None:
    assert "secrets." not in file.read_text()
    assert yaml.safe_load(file.read_text())["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("file", "command"), [("test", ".ci/run"), ("release", "make release")])
def test_a_workflow_runs_the_documented_command(file: str, command: str) -> None:
    workflow: dict[str, Any] = yaml.safe_load((ROOT / f".github/workflows/{file}.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(step.startswith(command) for step in steps)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda file: str(file.stem))
def test_a_template_of_an_issue_asks_for_what_a_maintainer_needs(template: Path) -> None:
    form = yaml.safe_load(template.read_text())
    assert form["name"]
    assert form["description"]
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids))
    assert any(name.startswith("version") for name in ids)
