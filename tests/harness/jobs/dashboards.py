"""Grafana's dashboards as ConfigMaps hold them: what they ask Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# A variable's query: the values of a label of these series.
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")


@dataclass(frozen=True)
class Query:
    """An expression, and where it stands."""

    dashboard: str
    panel: str
    expression: str

    def __str__(self) -> str:
        """Its place in words: a parametrized test's name."""
        return f"{self.dashboard}: {self.panel}"


def contents(config_map: Mapping[str, Any]) -> dict[str, Any]:
    """The dashboard that a ConfigMap holds."""
    (text,) = config_map["data"].values()
    dashboard: dict[str, Any] = json.loads(text)
    return dashboard


def queries(dashboard: Mapping[str, Any]) -> Iterator[Query]:
    """All queries of a dashboard: those of its variables, as the series whose labels they list, then its panels'."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = LABEL_VALUES.fullmatch(variable["query"]["query"])
            if found is None:
                raise ValueError(f"variable {variable['name']} asks for no values of a label")
            yield Query(dashboard["title"], f"${variable['name']}", found[1])
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield Query(dashboard["title"], panel["title"], target["expr"])
