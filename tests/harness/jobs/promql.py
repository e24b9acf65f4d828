"""Metrics in PromQL expressions, looked up in the lists of metrics that exporters have."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import promql_parser

ROOT = Path(__file__).parents[3]
LISTS = ("schemas/metrics/*.txt", "schemas/documented/metrics/*.txt")
# Suffixes of the series of a histogram or summary.
_PARTS = re.compile(r"_(bucket|count|sum)$")
# Grafana replaces these by durations.
_GRAFANA_DURATION = re.compile(r"\$__(rate_interval|interval|range)\b")


@functools.cache
def exporters() -> dict[str, set[str]]:
    """Return the metrics of each exporter, by the exporter's name."""
    files = [file for pattern in LISTS for file in sorted(ROOT.glob(pattern))]
    return {
        file.stem: {line for line in file.read_text().splitlines() if line and not line.startswith("#")}
        for file in files
    }


def exporters_of(expression: str) -> dict[str, set[str]]:
    """Return each metric of an expression with the exporters that have it, which may be none."""
    known = exporters()
    return {
        name: {exporter for exporter, metrics in known.items() if metrics & {name, _PARTS.sub("", name)}}
        for name in metrics(expression)
    }


def metrics(expression: str) -> set[str]:
    """Return the names of the metrics that an expression selects; raises `ValueError` when it is not PromQL."""
    names: set[str] = set()

    def note(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            # Without a name it selects series by their labels alone.
            names.add(node.name or "")

    promql_parser.walk(promql_parser.parse(substitute_variables(expression, namespace="namespace", run="run")), note)
    return names


def substitute_variables(expression: str, **variables: str) -> str:
    """Return the expression with Grafana's variables replaced."""
    text = _GRAFANA_DURATION.sub("1m", expression)
    for name, value in variables.items():
        text = re.sub(rf"\${name}\b", value, text)
    return text
