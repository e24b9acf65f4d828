"""The charts of the repository, rendered by the pinned versions of Helm."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import tools
from tools.generate import chart_files

ROOT = Path(__file__).parents[2]
CHARTS = {chart.name: chart for chart in chart_files.charts(ROOT)}
HELMS = ("helm", "helm4")
RELEASE = "run-42"
# The variable with the folder of what the worker processes of one session have rendered.
RENDERED = "TRAINYARD_RENDERED"
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
    """Run one of the Helms without a cluster, with `values` as a further values file on stdin."""
    command = [tool(name), *(str(argument) for argument in arguments)]
    if values is not None:
        command += ["--values", "-"]
    return subprocess.run(
        command,
        input=json.dumps(values, ensure_ascii=False),
        env=os.environ | WITHOUT_COLLECTOR | {"KUBECONFIG": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )


def template(
    name: str, chart: Path, *options: str, scenario: str | None = None, values: Any = None
) -> subprocess.CompletedProcess[str]:
    """Render a release named `RELEASE` with a values file of the chart's ci folder and then `values`."""
    files = [] if scenario is None else ["--values", str(chart / "ci" / scenario)]
    version = ["--kube-version", tools.module_version(tools.kubernetes())]
    return helm(name, "template", RELEASE, chart, *version, *files, *options, values=values)


@functools.cache
def manifests(name: str, chart: str, scenario: str | None = None) -> str:
    """Return the rendered manifests of a scenario; fails when Helm fails. The processes of a session share them."""
    folder = os.environ.get(RENDERED)
    kept = Path(folder, f"{name}.{chart}.{scenario}.yaml") if folder else None
    if kept is not None and kept.exists():
        return kept.read_text()
    result = template(name, CHARTS[chart], scenario=scenario)
    assert result.returncode == 0, result.stderr
    if kept is not None:
        # Another process may write or read the file.
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(result.stdout)
        written.replace(kept)
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
    values: dict[str, Any] = yaml.safe_load((chart / "values.yaml").read_text())
    return {key: value for key, value in values.items() if key not in foreign}
