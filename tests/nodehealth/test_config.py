"""Settings of the programs."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from nodehealth import config
from nodehealth.config import Agent, ConfigError, Controller, Pool

ROOT = Path(__file__).parents[2]


def test_settings_are_read_with_their_defaults(tmp_path: Path) -> None:
    file = tmp_path / "controller.json"
    file.write_text(json.dumps({"healthy_seconds": 60, "pools": [{"name": "h100", "max_percent": 5}]}))

    found = config.read(file, Controller)

    assert found == Controller(healthy_seconds=60.0, pools=[Pool("h100", {}, 5.0, 1)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pool": []}, "unknown key `pool`"),
        ({"pools": [{"max_percent": 5}]}, "pools\\[0\\]: .*'name'"),
        ({"pools": [{"name": "a", "node_selector": "h100"}]}, "pools\\[0\\].node_selector is 'h100': write dict"),
        ({"max_quarantines": True}, "max_quarantines is True: write int"),
        ([], "write a mapping"),
    ],
)
def test_settings_that_cannot_be_used_name_the_key(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.build(Controller, given, "controller.json")


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"agent\.json cannot be read"):
        config.read(tmp_path / "agent.json", Agent)


def test_the_image_has_the_pins_of_the_project() -> None:
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["health"]
    lines = (ROOT / "charts/node-health/image/requirements.txt").read_text().splitlines()

    assert [line for line in lines if not line.startswith("#")] == pins
