"""A kept result is the one of the same chart, command and input."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.charts import kept

# Prints its input and the chart, and notes that it ran.
SCRIPT = 'echo ran >> "$1"; cat - "$0/values.yaml"'


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "chart"
    folder.mkdir()
    (folder / "values.yaml").write_text("a: 1\n")
    return folder


def ran(chart: Path) -> int:
    return (chart.parent / "ran").read_text().count("ran")


def run(chart: Path, text: str = "", script: str = SCRIPT, **variables: str) -> str:
    kept._digest.cache_clear()
    command = ["sh", "-c", script, str(chart), str(chart.parent / "ran")]
    return kept.run(command, chart, os.environ | variables, text).stdout


def test_the_same_command_runs_once(chart: Path) -> None:
    assert [run(chart, "é\n") for _ in range(2)] == ["é\na: 1\n"] * 2
    assert ran(chart) == 1


def test_a_changed_chart_input_command_or_setting_runs_again(chart: Path) -> None:
    run(chart)
    (chart / "values.yaml").write_text("a: 2\n")

    assert run(chart) == "a: 2\n"
    assert run(chart, "b\n") == "b\na: 2\n"
    assert run(chart, script=f"{SCRIPT}; echo c") == "a: 2\nc\n"
    assert run(chart, HELM_NAMESPACE="other") == "a: 2\n"
    assert ran(chart) == 5


def test_another_checkout_has_the_same_results_with_its_own_path(chart: Path) -> None:
    other = chart.parent / "checkout" / chart.name
    shutil.copytree(chart, other)
    script = 'echo ran >> "$0/../ran"; echo "==> Linting $0"'

    found = [kept.run(["sh", "-c", script, str(one)], one, os.environ).stdout for one in (chart, other)]

    assert found == [f"==> Linting {chart}\n", f"==> Linting {other}\n"]
    assert not (other.parent / "ran").exists()


@pytest.mark.parametrize("end", ["exit 1", "echo warning >&2"])
def test_what_fails_or_warns_runs_again(chart: Path, end: str) -> None:
    for _ in range(2):
        run(chart, script=f"{SCRIPT}; {end}")

    assert ran(chart) == 2


def test_results_of_a_chart_that_nobody_asks_for_are_removed(chart: Path) -> None:
    run(chart)
    (old,) = (chart.parent / "cache" / "charts").iterdir()
    os.utime(old, (0, 0))
    (chart / "values.yaml").write_text("a: 2\n")

    run(chart)

    assert not old.exists()
