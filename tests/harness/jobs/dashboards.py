"""Queries of Grafana dashboards that are stored in ConfigMaps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# The query of a variable: the values of a label of these series.
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")


@dataclass(frozen=True)
class Query:
    """A PromQL expression, with the dashboard and the panel that it is in."""

    dashboard: str
    panel: str
    expression: str

    def __str__(self) -> str:
        """Return its location: the id of a parametrized test."""
        return f"{self.dashboard}: {self.panel}"


def contents(config_map: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dashboard in a ConfigMap."""
    (text,) = config_map["data"].values()
    dashboard: dict[str, Any] = json.loads(text)
    return dashboard


def queries(dashboard: Mapping[str, Any]) -> Iterator[Query]:
    """Yield the queries of a dashboard: the series of its variables' label values, then its panels' expressions."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = LABEL_VALUES.fullmatch(variable["query"]["query"])
            if found is None:
                raise ValueError(f"variable {variable['name']} is not a query for label values")
            yield Query(dashboard["title"], f"${variable['name']}", found[1])
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield Query(dashboard["title"], panel["title"], target["expr"])
