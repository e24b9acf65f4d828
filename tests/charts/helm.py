"""The charts of the repository, rendered by the pinned versions of Helm."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.charts import kept
from tests.harness.cluster import tools
from tools.generate import chart_files

ROOT = Path(__file__).parents[2]
CHARTS = {chart.name: chart for chart in chart_files.charts(ROOT)}
HELMS = ("helm", "helm4")
RELEASE = "run-42"
# These commands write nothing and ask no server.
PURE = ("lint", "template")
# A process that ends within a second frees nothing: collecting garbage takes a quarter of its processor time.
WITHOUT_COLLECTOR = {"GOGC": "off"}

# Each chart with its default values (None) and with every values file of its ci folder.
SCENARIOS: list[tuple[str, str | None]] = [
    (name, scenario)
    for name, chart in CHARTS.items()
    for scenario in (None, *sorted(path.name for path in chart.glob("ci/*-values.yaml")))
]


@functools.cache
def tool(name: str) -> str:
    """Return the path of a pinned tool."""
    return str(tools.binary(name))


def helm(name: str, *arguments: str | Path, values: Any = None) -> subprocess.CompletedProcess[str]:
    """Run one of the Helms without a cluster, with `values` as a further values file on stdin.

    The result of a command that reads a chart of the repository alone is kept, see `kept`.
    """
    command = [tool(name), *(str(argument) for argument in arguments)]
    if values is not None:
        command += ["--values", "-"]
    text = json.dumps(values, ensure_ascii=False)
    environment = os.environ | WITHOUT_COLLECTOR | {"KUBECONFIG": os.devnull}
    chart = _only_chart(command[1:])
    if chart is not None and command[1] in PURE:
        return kept.run(command, chart, environment, text)
    return subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False)


def _only_chart(arguments: Sequence[str]) -> Path | None:
    """Return the chart of the repository that holds every file that a command names; none if it names others."""
    named = [path for argument in arguments if (path := Path(argument)).is_absolute()]
    charts = (chart for chart in CHARTS.values() if all(path.is_relative_to(chart) for path in named))
    return next(charts, None) if named else None


def template(
    name: str, chart: Path, *options: str, scenario: str | None = None, values: Any = None
) -> subprocess.CompletedProcess[str]:
    """Render a release named `RELEASE` with a values file of the chart's ci folder and then `values`."""
    files = [] if scenario is None else ["--values", str(chart / "ci" / scenario)]
    version = ["--kube-version", tools.module_version(tools.kubernetes())]
    return helm(name, "template", RELEASE, chart, *version, *files, *options, values=values)


@functools.cache
def manifests(name: str, chart: str, scenario: str | None = None) -> str:
    """Return the rendered manifests of a scenario; fails when Helm fails."""
    result = template(name, CHARTS[chart], scenario=scenario)
    assert result.returncode == 0, result.stderr
    return result.stdout


def objects(text: str) -> list[dict[str, Any]]:
    """Return the objects of a YAML stream, with the items of Lists as separate objects."""
    documents = [copy.deepcopy(read) for part in re.split(r"^---$", text, flags=re.MULTILINE) for read in _read(part)]
    return [found for one in documents for found in (one["items"] if one["kind"] == "List" else [one])]


@functools.cache
def _read(part: str) -> list[Any]:
    """Return the documents of a text. The scenarios of a chart have most of their text in common, such as its CRDs."""
    return [document for document in yaml.load_all(part, Loader=yaml.CSafeLoader) if document]


def values_of(chart: Path) -> dict[str, Any]:
    """Return the chart's own default values, without those of its parts, and without those that a parent chart sets."""
    parts = yaml.safe_load((chart / "Chart.yaml").read_text()).get("dependencies", [])
    foreign = {"enabled", *(part.get("alias", part["name"]) for part in parts)}
    values: dict[str, Any] = yaml.load((chart / "values.yaml").read_text(), Loader=yaml.CSafeLoader)
    return {key: value for key, value in values.items() if key not in foreign}
