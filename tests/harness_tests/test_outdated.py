"""The list of pins and their newest releases. A folder takes the place of the module proxy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.harness import npm
from tests.harness.cluster import tools
from tools import outdated
from tools.outdated import Pin, Row

MODULE = "example.com/tool"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of tools with one that pins v1.0.0 of a module."""
    tool = tmp_path / "tools" / "tool"
    tool.mkdir(parents=True)
    lines = [
        "module trainyard/tools/tool",
        "go 1.26.0",
        f"tool {MODULE}/cmd/tool",
        f"require {MODULE} v1.0.0 // indirect",
    ]
    (tool / "go.mod").write_text("\n".join(lines) + "\n")
    return tmp_path / "tools"


def publish(proxy: Path, *versions: str) -> None:
    """Write releases as the files of a module proxy."""
    place = proxy / MODULE / "@v"
    place.mkdir(parents=True)
    (place / "list").write_text("\n".join(versions))
    for version in versions:
        (place / f"{version}.info").write_text(f'{{"Version": "{version}"}}')
        (place / f"{version}.mod").write_text(f"module {MODULE}\n")


@pytest.mark.parametrize(
    ("versions", "newest", "is_behind"),
    [
        (["v1.0.0"], "v1.0.0", False),
        (["v1.0.0", "v1.2.0", "v1.10.0", "v1.11.0-rc.1"], "v1.10.0", True),
        ([], None, False),
    ],
    ids=["the newest", "behind", "unknown"],
)
def test_a_pin_is_behind_if_the_proxy_has_a_newer_release(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    versions: list[str],
    newest: str | None,
    is_behind: bool,
) -> None:
    if versions:
        publish(tmp_path / "proxy", *versions)
    monkeypatch.setenv("GOPROXY", f"file://{tmp_path}/proxy")
    monkeypatch.setenv("GONOSUMDB", MODULE)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))

    pins = list(outdated.go_pins(folder))
    rows = outdated.newest_modules(pins, folder)

    assert rows == [Row(Pin("tool", MODULE, "v1.0.0"), newest)]
    assert rows[0].is_behind == is_behind


def test_every_tool_with_packages_of_others_has_a_pin() -> None:
    pinned = {pin.place for pin in outdated.go_pins()}
    folders = {file.parent.name for file in tools.FOLDER.glob("*/go.mod") if (file.parent / "go.sum").exists()}
    assert folders - pinned == {tools.KUBERNETES["oldest"]}
    assert pinned <= folders


def test_the_pins_of_python_are_those_of_all_groups() -> None:
    pins = {pin.name: pin for pin in outdated.python_pins()}
    assert pins["torch"].place == "group trainer"
    assert pins["deepspeed"].version[0].isdigit()
    assert "rich" in pins


def test_the_pins_of_npm_are_those_of_all_its_packages() -> None:
    pins = {pin.name: pin for pin in outdated.npm_pins()}
    assert pins["@grafana/ui"].place == "tests/harness/grafana/page"
    assert {"react", "esbuild", "pyodide", "typescript"} < set(pins)
    assert {f"{folder}/package.json" for folder in outdated.NPM_FOLDERS} == set(
        subprocess.run(
            ["git", "ls-files", "**/package.json"], cwd=outdated.ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
    )


def test_the_latest_release_of_npm_may_be_newer_than_a_pin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    node = tmp_path / "node"
    # In place of npm: the package `known` has a release.
    node.write_text('#!/bin/sh\n[ "$3" = known ] && echo 2.0.0\n')
    node.chmod(0o755)
    monkeypatch.setattr(npm, "NODE", node)

    known, unknown = outdated.newest_of_npm([Pin("grafana", "known", "1.0.0"), Pin("grafana", "unknown", "1.0.0")])

    assert (known.newest, known.is_behind) == ("2.0.0", True)
    assert (unknown.newest, unknown.is_behind) == (None, False)
