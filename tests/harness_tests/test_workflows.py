"""The workflows of GitHub: valid, pinned by digest, without secrets, and with the commands of the README."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import tools
from tools.release import site, sums

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


@pytest.mark.parametrize(("damaged", "status"), [(False, 0), (True, 1)])
def test_the_site_of_a_release_is_deployed_if_its_checksum_is_right(tmp_path: Path, damaged: bool, status: int) -> None:
    made = tmp_path / "0.4.0"
    (made / "site").mkdir(parents=True)
    (made / "site" / "index.html").write_text("the pages")
    with tarfile.open(made / site.NAME, "w:gz") as archive:
        archive.add(made / "site", "site")
    sums.write(made)
    if damaged:
        (made / site.NAME).write_bytes(b"other pages")
    with tarfile.open(tmp_path / "trainyard-0.4.0.tar.gz", "w:gz") as archive:
        archive.add(made, made.name)
    shutil.rmtree(made)
    # The archive is there already: this `gh` downloads nothing.
    (tmp_path / "gh").write_text("#!/bin/sh\n")
    (tmp_path / "gh").chmod(0o755)
    workflow = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())

    script = workflow["jobs"]["fetch"]["steps"][0]["run"]
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TAG": "v0.4.0", "REPOSITORY": "team/trainyard"}
    ended = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == status, ended.stderr
    assert (tmp_path / "site" / "index.html").exists() != damaged


def test_only_the_job_that_deploys_may_write() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "fetch": None,
        "deploy": {"pages": "write", "id-token": "write"},
    }


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda file: str(file.stem))
def test_a_template_of_an_issue_asks_for_what_a_maintainer_needs(template: Path) -> None:
    form = yaml.safe_load(template.read_text())
    assert form["name"]
    assert form["description"]
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids))
    assert any(name.startswith("version") for name in ids)
