"""Prometheus' answers to the queries of a dashboard, as Grafana asks them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import Any, Protocol

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import promql

Object = Mapping[str, Any]
# Of each panel, by its id: the series of each query, by its refId.
Answers = Mapping[int, Mapping[str, list[Object]]]


class Server(Protocol):
    """A Prometheus server."""

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate an expression now."""

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """Evaluate an expression over a time range."""


def panels(dashboard: Object) -> Iterable[Object]:
    """Return the panels that have queries."""
    return (panel for panel in dashboard["panels"] if panel["type"] != "row")


def ask(
    server: Server, asked: Iterable[Object], *, start: float, end: float, step: float, **variables: str
) -> dict[int, dict[str, list[Object]]]:
    """Ask the queries of panels: numbers of now, and graphs of a time range in seconds since 1970."""

    def series(target: Object) -> list[Object]:
        expression = promql.substitute_variables(target["expr"], **variables)
        if target.get("instant"):
            return [{"metric": one["metric"], "values": [one["value"]]} for one in server.query(expression)]
        return list(server.query_range(expression, start=start, end=end, step=step))

    return {panel["id"]: {target["refId"]: series(target) for target in panel["targets"]} for panel in asked}


def gathered(
    server: Server, dashboard: Object, exporters: Set[str], *, start: float, seconds: float, **variables: str
) -> dict[int, dict[str, list[Object]]]:
    """Ask the panels of these exporters, from a time until now, until each query has an answer.

    Raises `ClusterError` that lists the queries without an answer after some seconds.
    """
    missing = [panel for panel in panels(dashboard) if _is_served(panel, exporters)]
    answered: dict[int, dict[str, list[Object]]] = {}

    def complete() -> bool:
        found = ask(server, missing, start=start, end=time.time(), step=2, **variables)
        answered.update(found)
        missing[:] = [panel for panel in missing if any(unanswered([panel], found))]
        return not missing

    with suppress(ClusterError):
        api.wait_until(complete, what="data for every query", seconds=seconds)
    if missing:
        raise ClusterError("\n".join(["queries without data:", *unanswered(missing, answered)]))
    return answered


def _is_served(panel: Object, exporters: Set[str]) -> bool:
    metrics = [promql.exporters_of(target["expr"]) for target in panel["targets"]]
    return all(who & exporters for found in metrics for who in found.values())


def unanswered(asked: Iterable[Object], answers: Answers) -> Iterator[str]:
    """Yield title and query of each answer without series, except where none is good news."""
    for panel in asked:
        for target in panel["targets"]:
            if not answers[panel["id"]][target["refId"]] and "noValue" not in panel["fieldConfig"]["defaults"]:
                yield f"{panel['title']}: {target['expr']}"


def without_empty_rows(dashboard: Object, answers: Answers) -> dict[str, Any]:
    """Return a dashboard of the rows in which a panel has data."""
    shown: list[Object] = []
    bottom = 0
    for row in _rows(dashboard["panels"]):
        if any(series for panel in row for series in answers.get(panel["id"], {}).values()):
            up = row[0]["gridPos"]["y"] - bottom
            shown += ({**panel, "gridPos": {**panel["gridPos"], "y": panel["gridPos"]["y"] - up}} for panel in row)
            bottom = shown[-1]["gridPos"]["y"] + shown[-1]["gridPos"]["h"]
    return {**dashboard, "panels": shown}


def _rows(panels: Iterable[Object]) -> Iterable[list[Object]]:
    rows: list[list[Object]] = []
    for panel in panels:
        if panel["type"] == "row":
            rows.append([])
        rows[-1].append(panel)
    return rows
