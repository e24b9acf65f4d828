"""`trainyard lint --chart`: the linted documents, and the exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.charts import helm
from trainyard.cli import main

CHARTS = Path(__file__).parents[1] / "loaders" / "charts"
FOREIGN = CHARTS / "foreign"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache for each test; the tools are looked up before."""
    for name in helm.HELMS:
        helm.tool(name)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))


def lint(*arguments: str | Path) -> int:
    return main.main(["lint", *map(str, arguments)])


@pytest.mark.parametrize("name", helm.HELMS)
def test_a_third_party_chart_is_rendered_by_either_helm(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    run = FOREIGN / "run.yaml"
    tool = helm.tool(name)
    assert lint("--chart", FOREIGN, "-f", run, "--helm", tool, "--select", "NC005", "--output-format", "json") == 1
    found = json.loads(capfd.readouterr().out)["findings"]
    places = [(Path(finding["location"]["path"]).name, finding["location"]["line"]) for finding in found]
    assert places == [("run.yaml", 3), ("run.yaml", 13)]


def test_without_values_the_chart_s_defaults_are_linted(capfd: pytest.CaptureFixture[str]) -> None:
    assert lint("--chart", FOREIGN, "--helm", helm.tool("helm"), "--select", "NC005") == 0
    assert "Nothing found in 1 file." in capfd.readouterr().out


def test_the_exit_status_for_a_chart_that_cannot_be_rendered_is_3(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    values = tmp_path / "run.yaml"
    values.write_text("mode: mpi\n")
    assert lint("--chart", FOREIGN, "-f", values, "--helm", helm.tool("helm")) == 3
    assert "mode must be pytorch or xgboost" in capfd.readouterr().err


def test_the_exit_status_for_a_third_party_chart_without_helm_is_3(capfd: pytest.CaptureFixture[str]) -> None:
    assert lint("--chart", FOREIGN, "--helm", "no-such-helm") == 3
    assert "install Helm" in capfd.readouterr().err


def test_the_training_job_needs_no_helm(capfd: pytest.CaptureFixture[str]) -> None:
    chart = helm.CHARTS["training-job"]
    assert lint("--chart", chart, "-f", chart / "ci" / "gpu-values.yaml", "--helm", "no-such-helm") == 0


def test_the_name_of_a_release_is_linted_too(capfd: pytest.CaptureFixture[str]) -> None:
    chart = helm.CHARTS["training-job"]
    assert lint("--chart", chart, "--release", "42-run") == 1
    assert 'release name "42-run" cannot name a run' in capfd.readouterr().out


def test_broken_values_are_a_finding(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    values = tmp_path / "run.yaml"
    values.write_text("nodes: [\n")
    assert lint("--chart", FOREIGN, "-f", values, "--helm", "no-such-helm") == 1
    assert "HV009" in capfd.readouterr().out


@pytest.mark.parametrize("arguments", [("-f", "run.yaml"), ("--chart", "no-such-folder"), ("--chart", CHARTS)])
def test_the_error_for_a_wrong_name_mentions_the_chart(
    arguments: tuple[str | Path, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert lint(*arguments) in (2, 3)
    assert "chart" in capfd.readouterr().err
