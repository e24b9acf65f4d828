"""Trainyard's charts beside training-job, with the keys by which their values are recognised."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trainyard.chart_folder import CHARTS as CHARTS_FOLDER
from trainyard.document import opening
from trainyard.document.disk_answers import remembered
from trainyard.loaders import json_schema
from trainyard.loaders.origins import value_at
from trainyard.loaders.site.chart import FOLDER as PLATFORM

if TYPE_CHECKING:
    from gotemplate.charts import Chart
    from gotemplate.rendering import RenderedObject
    from trainyard.document.document import Document
    from trainyard.loaders.chart_release import About

_MODELINE = re.compile(r"^#\s*yaml-language-server:\s*\$schema=\S*?([\w-]+)/values\.schema\.json\s*$", re.MULTILINE)
_CHART_NAME = re.compile(rb"^name:\s*[\"']?([\w.-]+)", re.MULTILINE)

Keys = tuple[str, ...]


class KnownChart(NamedTuple):
    """A chart of Trainyard. `telling` are values that few other files have: with one of them, a file is recognised."""

    name: str
    folder: Path
    telling: tuple[Keys, ...]

    @property
    def title(self) -> str:
        """The chart's name in messages."""
        return f"charts/{self.name}"

    def schema_file(self) -> Path:
        """Returns the file of the schema of the values."""
        return self.folder / "values.schema.json"


# In the order in which they are tried: a site has keys of its parts.
CHARTS = (
    KnownChart(
        "training-platform",
        PLATFORM,
        (
            ("queues", "clusterQueues"), ("queues", "flavors"), ("queues", "topologies"), ("gpu", "profile"),
            ("gpu", "rdma"), ("gpu", "sriov"), ("networks", "networks"), ("networks", "multus"), ("fabric", "profile"),
            ("fabric", "networks"), ("operator", "schemes"), ("monitoring", "alerts"), ("monitoring", "monitors"),
            ("gpu", "enabled"), ("networks", "enabled"), ("operator", "enabled"), ("trainer", "enabled"),
            ("queues", "enabled"), ("runtimes", "enabled"),
            ("nodeHealth", "enabled"),
        ),
    ),
    KnownChart(
        "training-preflight",
        CHARTS_FOLDER / "training-preflight",
        (("ncclTests",), ("sizes",), ("slowRatio",), ("startTimeoutSeconds",), ("threshold",), ("warmUp",)),
    ),
    KnownChart(
        "training-runtimes",
        CHARTS_FOLDER / "training-runtimes",
        (("runtimes",), ("rendezvousSeconds",), ("maxRestarts",), ("workspace",)),
    ),
    KnownChart(
        "node-health",
        PLATFORM / "charts" / "node-health",
        (
            ("checks", "disks"), ("checks", "links"), ("checks", "xid"), ("quarantine",), ("sources", "kernelLog"),
            ("agent", "ownNodeOnly"),
        ),
    ),
    KnownChart(
        "gpu-rdma-policy",
        PLATFORM / "charts" / "gpu-rdma-policy",
        (("profile",), ("sriov",), ("rdma",), ("mig",), ("gpu", "driver"), ("dcgm",)),
    ),
    KnownChart(
        "training-networks",
        PLATFORM / "charts" / "training-networks",
        (("networks",), ("multus",), ("whereabouts",), ("nvIpam",)),
    ),
    KnownChart(
        "training-operator",
        PLATFORM / "charts" / "training-operator",
        (("schemes",), ("controllerThreads",), ("gangScheduler",), ("watchNamespace",), ("kubeApi",)),
    ),
    KnownChart(
        "kubeflow-trainer",
        PLATFORM / "charts" / "kubeflow-trainer",
        (("jobset",), ("gangSchedulers",), ("progress",)),
    ),
    KnownChart(
        "training-monitoring",
        PLATFORM / "charts" / "training-monitoring",
        (("alerts",), ("dashboards",), ("monitors",)),
    ),
)  # fmt: skip


def recognise(document: Document) -> KnownChart | None:
    """Returns the chart whose values a document holds: its modeline says so, or its keys do."""
    tree = document.tree
    if not isinstance(tree, dict) or "apiVersion" in tree or "metadata" in tree:
        return None
    named = _MODELINE.search(document.source.text[:2000])
    for chart in CHARTS:
        if named is not None and named[1] == chart.name:
            return chart
    for chart in CHARTS:
        if any(_has(tree, keys) for keys in chart.telling) and _accepts(chart, tree):
            return None if _is_of_another_chart(Path(document.source.name).parent) else chart
    return None


@remembered
def _is_of_another_chart(folder: Path) -> bool:
    """True if a folder is a chart of another name, whose values are its own."""
    with suppress(OSError):
        found = _CHART_NAME.search(opening.read_found(str(folder / "Chart.yaml"), str(folder)))
        return found is not None and found[1].decode() not in {chart.name for chart in CHARTS}
    return False


def _has(tree: Mapping[str, Any], keys: Keys) -> bool:
    nothing = object()
    return value_at(tree, keys, nothing) not in (nothing, None)


def _accepts(chart: KnownChart, tree: Mapping[str, Any]) -> bool:
    """True if all keys of a file are the chart's, and a telling value has the right form."""
    properties = _properties(chart)
    if not tree.keys() <= properties.keys():
        return False
    told = {keys[0] for keys in chart.telling if _has(tree, keys)}
    return _is_right(chart, tree, told) or _is_right(chart, _over_defaults(chart, tree), told)


def _is_right(chart: KnownChart, tree: Mapping[str, Any], told: set[str]) -> bool:
    schema = schema_of(chart)["properties"]
    return any(next(json_schema.faults(schema[key], tree[key]), None) is None for key in told if key in tree)


def _over_defaults(chart: KnownChart, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the values over the defaults: a part of a default may lack what the whole requires."""
    from gotemplate.errors import FailedError

    try:
        return merged_values(chart, tree)
    except FailedError:
        return {}


@functools.cache
def _properties(chart: KnownChart) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = json.loads(chart.schema_file().read_text("utf-8"))["properties"]
    return properties


@functools.cache
def schema_of(chart: KnownChart) -> dict[str, Any]:
    """Returns the schema of the values, read once."""
    return json_schema.load_schema(chart.schema_file())


def site_schema() -> Any:
    """Returns the schema of a site's values: that of the platform, with those of its parts below their names."""
    schema = json.loads((PLATFORM / "values.schema.json").read_text("utf-8"))
    definitions = schema.setdefault("$defs", {})
    for name, alias in _parts():
        part = json.loads((PLATFORM / "charts" / name / "values.schema.json").read_text("utf-8"))
        definitions[alias] = _moved(part, f"#/$defs/{alias}/$defs/")
        own = schema["properties"].get(alias, {})
        schema["properties"][alias] = {"allOf": [own, {"$ref": f"#/$defs/{alias}"}]} if own else definitions[alias]
    return schema


def _parts() -> Iterator[tuple[str, str]]:
    """Yields the charts that a site installs, with the names of their values in its own."""
    from trainyard.document.reading import read
    from trainyard.document.source import Source

    about = PLATFORM / "Chart.yaml"
    documents, _ = read(Source(str(about), about.read_text("utf-8")))
    for dependency in documents[0].tree["dependencies"]:
        if "alias" in dependency:
            yield dependency["name"], dependency["alias"]


def _moved(part: Any, definitions: str) -> Any:
    """Returns a part of a schema whose definitions are elsewhere."""
    if isinstance(part, list):
        return [_moved(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: definitions + item.removeprefix("#/$defs/") if key == "$ref" else _moved(item, definitions)
        for key, item in part.items()
        if key not in ("$schema", "$id")
    }


@functools.cache
def templates_of(known: KnownChart) -> Chart:
    """Returns the chart, read once."""
    from gotemplate.charts import Chart as Folder
    from trainyard.loaders import chart_release
    from trainyard.loaders.site.chart import platform_chart

    platform = platform_chart()
    if known.folder == PLATFORM:
        return platform
    if known.name in ("training-preflight", "training-runtimes"):
        return chart_release.open_chart(known.folder)
    chart = Folder(known.folder)
    # A part of the platform has the platform's library chart, and its shortened definitions of resources.
    chart.parts = {"common": platform.parts["common"]}
    chart.files = platform.parts[known.name].files
    return chart


def merged_values(known: KnownChart, own: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values over the defaults of a chart and of its parts. Raises `FailedError`."""
    from gotemplate import merging
    from trainyard.loaders.site.chart import platform_values

    return platform_values(own) if known.folder == PLATFORM else merging.coalesce(templates_of(known), own)


def schema_faults(known: KnownChart, values: Mapping[str, Any]) -> Iterator[json_schema.Fault]:
    """Yields the faults that the schemas of the chart, and of its installed parts, find in merged values."""
    from trainyard.loaders.site.chart import platform_faults

    return platform_faults(values) if known.folder == PLATFORM else json_schema.faults(schema_of(known), values)


def objects(known: KnownChart, values: Mapping[str, Any], about: About) -> list[RenderedObject]:
    """Returns the objects of a release from merged values. Raises `FailedError` and `UnsupportedError`."""
    from trainyard.loaders import chart_release

    return chart_release.rendered_objects(templates_of(known), values, about)
