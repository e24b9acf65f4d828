"""The charts of the repository, and the pinned Helms that render them."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import tools
from tests.generate import chart_files

ROOT = Path(__file__).parents[2]
CHARTS = {chart.name: chart for chart in chart_files.charts(ROOT)}
HELMS = ("helm", "helm4")
RELEASE = "run-42"

# Each chart with its defaults (None) and with every values file of its ci folder.
SCENARIOS: list[tuple[str, str | None]] = [
    (name, scenario)
    for name, chart in CHARTS.items()
    for scenario in (None, *sorted(path.name for path in chart.glob("ci/*-values.yaml")))
]


@functools.cache
def tool(name: str) -> str:
    """Path of a pinned tool."""
    return str(tools.binary(name))


def helm(name: str, *arguments: str | Path, values: Any = None) -> subprocess.CompletedProcess[str]:
    """Run one of the Helms where no cluster answers, with `values` as one more values file, on stdin."""
    command = [tool(name), *(str(argument) for argument in arguments)]
    if values is not None:
        command += ["--values", "-"]
    return subprocess.run(
        command,
        input=json.dumps(values, ensure_ascii=False),
        env=os.environ | {"KUBECONFIG": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )


def template(
    name: str, chart: Path, *options: str, scenario: str | None = None, values: Any = None
) -> subprocess.CompletedProcess[str]:
    """Render a release called `RELEASE` with a values file of the chart's ci folder and then `values`."""
    files = [] if scenario is None else ["--values", str(chart / "ci" / scenario)]
    version = ["--kube-version", tools.KUBERNETES_VERSION]
    return helm(name, "template", RELEASE, chart, *version, *files, *options, values=values)


@functools.cache
def manifests(name: str, chart: str, scenario: str | None = None) -> str:
    """The rendered manifests of a scenario as text; fails when Helm refuses it."""
    result = template(name, CHARTS[chart], scenario=scenario)
    assert result.returncode == 0, result.stderr
    return result.stdout


def objects(text: str) -> list[dict[str, Any]]:
    """The objects of a stream of YAML documents, those of a List each by itself."""
    documents = [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]
    return [found for one in documents for found in (one["items"] if one["kind"] == "List" else [one])]


def values_of(chart: Path) -> dict[str, Any]:
    """The chart's own default values, without those that belong to its parts, or to a chart that it is a part of."""
    parts = yaml.safe_load((chart / "Chart.yaml").read_text()).get("dependencies", [])
    foreign = {"enabled", *(part.get("alias", part["name"]) for part in parts)}
    values: dict[str, Any] = yaml.safe_load((chart / "values.yaml").read_text())
    return {key: value for key, value in values.items() if key not in foreign}
