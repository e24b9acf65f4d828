"""The image that users build from trainer/Dockerfile."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def pins(lines: list[str]) -> set[str]:
    return {line for line in map(str.strip, lines) if line and not line.startswith("#")}


def test_the_image_has_the_pins_of_the_project_and_the_base_image_s_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["trainer"]
    image = pins((ROOT / "trainer" / "requirements.txt").read_text().splitlines())
    assert image == {pin for pin in project if not pin.startswith("torch==")}
    assert len(image) == len(project) - 1
