"""The configuration of Renovate reaches every kind of file that pins something."""

from __future__ import annotations

import json
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = json.loads((ROOT / ".github" / "renovate.json").read_text())
PINNING = {
    "pep621": "pyproject.toml",
    "gomod": "*/go.mod",
    "npm": "*/package.json",
    "github-actions": ".github/workflows/*.yml",
    "dockerfile": "*/Dockerfile",
    "helm-values": "charts/*/values.yaml",
}


def pinning(pattern: str) -> list[str]:
    """Returns the files of the repository with this pattern that Renovate does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    ignored = CONFIGURATION["ignorePaths"]
    return [file for file in files if fnmatch(file, pattern) and not any(fnmatch(file, path) for path in ignored)]


@pytest.mark.parametrize("manager", PINNING)
def test_every_kind_of_pin_has_its_manager(manager: str) -> None:
    assert pinning(PINNING[manager])
    assert manager in CONFIGURATION["enabledManagers"]


def test_copies_of_charts_are_left_to_their_sources() -> None:
    assert [file for file in pinning(PINNING["helm-values"]) if file.count("/") > 2] == []
