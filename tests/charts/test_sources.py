"""Charts install from sources and packages without symbolic links: Flux, Windows and archives of a forge drop them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.charts.helm import CHARTS, HELMS, RELEASE, ROOT, helm
from tests.harness.cluster.tools import module_version


def _without_links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__" or Path(folder, name).is_symlink()]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the charts without their symbolic links."""
    return shutil.copytree(ROOT / "charts", tmp_path_factory.mktemp("checkout") / "charts", ignore=_without_links)


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_without_links_is_rendered_and_nothing_is_reported(name: str, chart: str, sources: Path) -> None:
    result = helm(name, "template", RELEASE, sources / chart, "--kube-version", module_version("kubernetes"))

    assert (result.returncode, result.stderr) == (0, "")
    assert "kind:" in result.stdout


@pytest.mark.parametrize("name", HELMS)
def test_building_dependencies_fetches_nothing_and_changes_no_tracked_file(name: str, sources: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in sources.rglob("*") if path.is_file() and path.name != "Chart.lock"}

    before = files()
    for chart in ("training-platform", "training-job"):
        built = helm(name, "dependency", "build", "--skip-refresh", sources / chart)
        assert built.returncode == 0, built.stderr

    assert files() == before


def test_no_file_below_the_charts_and_the_validator_is_a_link() -> None:
    links = [
        Path(folder, name)
        for part in ("charts", "validator")
        for folder, folders, names in os.walk(ROOT / part)
        for name in (*folders, *names)
        if Path(folder, name).is_symlink()
    ]

    assert links == []
