"""The image that users build from trainer/Dockerfile."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def pins(lines: list[str]) -> set[str]:
    return {line for line in map(str.strip, lines) if line and not line.startswith("#")}


def test_the_readme_names_the_pinned_version_of_mlflow() -> None:
    (pin,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["mlflow"]

    assert f" {pin}\n" in (ROOT / "trainer" / "README.md").read_text()


def test_the_image_has_the_pins_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["trainer"]
    image = pins((ROOT / "trainer" / "requirements.txt").read_text().splitlines())
    (torch,) = (pin for pin in project if pin.startswith("torch=="))
    assert image == {*project} - {torch}
    assert f" {torch}\n" in (ROOT / "trainer" / "Dockerfile").read_text()


def test_the_image_has_the_bytecode_of_the_trainer_that_its_processes_do_not_write() -> None:
    lines = (ROOT / "trainer" / "Dockerfile").read_text().splitlines()
    assert lines.index("COPY trainer trainer") < lines.index("RUN python3 -m compileall -q trainer")
