"""Merges values files and chart defaults into the values that templates see. Source: pkg/chartutil of Helm 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.origin import Origin

if TYPE_CHECKING:
    from gotemplate.charts import Chart


def merge(files: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Returns several values files as one. Mappings are merged; of anything else, null included, the last file wins."""
    merged: dict[str, Any] = {}
    for values in files:
        merged = _overlay(merged, values)
    return merged


def _overlay(base: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        own = merged.get(key)
        merged[key] = _overlay(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    return merged


def with_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values over the chart's defaults. A null removes a default."""
    merged = dict(values)
    for key, default in defaults.items():
        if key not in merged:
            merged[key] = default
        elif merged[key] is None:
            del merged[key]
        elif isinstance(merged[key], dict) and isinstance(default, dict):
            merged[key] = with_defaults(merged[key], default)
    return merged


def coalesce(chart: Chart, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values over the defaults of the chart and of its installed subcharts, each under its name.

    Raises `FailedError` if the values of a subchart are not a mapping.
    """
    merged = with_defaults(values, chart.values)
    for name in _names(chart):
        below, default = values.get(name), chart.values.get(name)
        if isinstance(below, dict) and isinstance(default, dict):
            # A null removes the default of the subchart too.
            merged[name] = _overlay(default, below)
    for name, part in installed(chart, merged):
        below = merged.get(name)
        if below is not None and not isinstance(below, dict):
            raise FailedError(f"{name} is not a mapping", Origin((name,)))
        merged[name] = coalesce(part, _with_globals(below or {}, merged))
    return merged


def _with_globals(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a subchart with `global` of the parent chart, which wins."""
    return {**below, "global": _overlay(_mapping(below, "global"), _mapping(above, "global"))}


def installed(chart: Chart, values: Mapping[str, Any]) -> Iterator[tuple[str, Chart]]:
    """Yields the subcharts that these values install, each with its name in the parent chart.

    A subchart that is not in the chart's folder is left out.
    """
    for entry in chart.about.get("dependencies") or ():
        if entry.get("import-values"):
            raise UnsupportedError("import-values")
        part, name = chart.parts.get(entry["name"]), _name(entry)
        if part is not None and _is_wanted(entry, {**values, name: with_defaults(_mapping(values, name), part.values)}):
            yield name, part
    listed = {entry["name"] for entry in chart.about.get("dependencies") or ()}
    yield from ((name, part) for name, part in chart.parts.items() if name not in listed)


def _names(chart: Chart) -> Iterator[str]:
    return (_name(entry) for entry in chart.about.get("dependencies") or ())


def _name(entry: Mapping[str, Any]) -> str:
    """Returns the name of a subchart in its parent chart."""
    return str(entry.get("alias") or entry["name"])


def _is_wanted(entry: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """True if a subchart is installed: the first boolean condition decides, else the tags, of which one is enough."""
    for condition in (entry.get("condition") or "").split(","):
        found = _at(values, condition.strip().split("."))
        if isinstance(found, bool):
            return found
    tags = [_at(values, ("tags", tag)) for tag in entry.get("tags") or ()]
    return True in tags or False not in tags


def _mapping(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _at(values: Any, steps: Iterable[str]) -> Any:
    for step in steps:
        values = values.get(step) if isinstance(values, dict) else None
    return values
