"""Prometheus' answers to the queries of a dashboard, as Grafana asks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tests.harness.jobs import promql

Series = Mapping[str, Any]
# Of each panel, by its id: the series of each query, by its refId.
Answers = dict[int, dict[str, list[Series]]]


class Server(Protocol):
    """A Prometheus server."""

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate an expression now."""

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """Evaluate an expression over a time range."""


def answers(
    server: Server, dashboard: Mapping[str, Any], *, start: float, end: float, step: float, **variables: str
) -> Answers:
    """Ask the queries of all panels: numbers of now, and graphs of a time range in seconds since 1970."""

    def ask(target: Mapping[str, Any]) -> list[Series]:
        expression = promql.substitute_variables(target["expr"], **variables)
        if target.get("instant"):
            return [at_once(one["metric"], one["value"]) for one in server.query(expression)]
        return list(server.query_range(expression, start=start, end=end, step=step))

    return {
        panel["id"]: {target["refId"]: ask(target) for target in panel.get("targets", ())}
        for panel in panels(dashboard)
    }


def panels(dashboard: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the panels that have queries."""
    return (panel for panel in dashboard["panels"] if panel["type"] != "row")


def at_once(metric: Mapping[str, str], value: tuple[float, str]) -> Series:
    """Return a series with one value."""
    return {"metric": metric, "values": [value]}
