"""The wheel: its name, and the files that it brings into an environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.harness import checkout
from trainyard import DISTRIBUTION, __version__
from trainyard.engine import registry

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of a copy of the tracked files, so that the build leaves nothing in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout.copy(folder / "checkout")
    build = ["uv", "build", "--wheel", "--no-build-isolation", "--quiet", "--out-dir", str(folder)]
    subprocess.run([sys.executable, "-m", *build], cwd=folder / "checkout", check=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_touches_no_package_of_another_project(wheel: zipfile.ZipFile) -> None:
    about = f"{DISTRIBUTION.replace('-', '_')}-{__version__}.dist-info"
    assert {name.split("/")[0] for name in wheel.namelist()} == {"trainyard", "gotemplate", about}


def test_the_name_in_messages_is_the_name_of_the_distribution(wheel: zipfile.ZipFile) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["version"]) == (DISTRIBUTION, __version__)


def test_the_wheel_holds_the_data_that_rules_and_loaders_read(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    modules = {f"{rule.module.replace('.', '/')}.py" for rule in registry.rules()}
    assert modules <= names
    assert {"trainyard/py.typed", "trainyard/facts/nccl/variables.csv"} <= names
    package = ROOT / "validator" / "trainyard"
    data = {path for path in package.rglob("*") if path.suffix in (".csv", ".html", ".txt", ".typed")}
    kept = {path for path in data if "cases" not in path.parts}
    assert {path.relative_to(package.parent).as_posix() for path in kept} - names == set()
    assert not [name for name in names if "/cases/" in name or "/tests/" in name or "/ci/" in name]


def test_the_wheel_alone_lints_the_values_of_a_run_on_a_site(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "packages")
    run = ROOT / "charts" / "training-job" / "ci" / "fabric-onprem-ib-values.yaml"
    site = ROOT / "charts" / "training-platform" / "ci" / "onprem-ib-values.yaml"
    command = [sys.executable, "-P", "-m", "trainyard", "lint", str(run), "--site", str(site)]

    from_wheel, from_checkout = (
        subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(packages), "TRAINYARD_CACHE": str(tmp_path / packages.name)},
            capture_output=True,
            text=True,
            check=False,
        )
        for packages in (tmp_path / "packages", ROOT / "validator")
    )

    assert "in 1 file" in from_wheel.stdout, from_wheel.stderr
    assert from_wheel.stdout == from_checkout.stdout
