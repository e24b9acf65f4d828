"""The values of every chart: each is documented, each is validated, and each changes the rendered objects."""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from gotemplate import rendering
from gotemplate.charts import Chart
from gotemplate.errors import FailedError
from gotemplate.functions import FUNCTIONS
from gotemplate.merging import coalesce, installed, merge
from gotemplate.tracked import Value, spans_of
from tests.charts.helm import CHARTS, HELMS, RELEASE, SCENARIOS, template, values_of
from trainyard.document import reading
from trainyard.document.source import Path, Source
from trainyard.loaders import json_schema

Keys = tuple[str, ...]

# Values of every shape that a chart accepts; the schema of a leaf selects the valid ones.
CANDIDATES: list[Any] = [
    *(True, False, 1, 2, 17, 7_200, 0.7),
    *("other", "/other", "7Gi", "7s", "other.example.org/other:7", f"sha256:{'0' * 64}"),
    *("https://other.example.org/other", "s3://other/other", "gs://other/other", "0" * 64, "scratch"),
    *(["other"], ["https://other.example.org/other"], [{"key": "other"}], [{"type": "Resource"}]),
    *([17], [{"cidr": "192.0.2.0/24"}], "/checkpoints/other"),
    [{"maxSkew": 1, "topologyKey": "other", "whenUnsatisfiable": "ScheduleAnyway"}],
    *(
        {"other": "other"},
        {"other": ["other"]},
        {"other": "/other"},
        {"other": {"secret": "other", "key": "other"}},
        {"nodeAffinity": {"other": "other"}},
        {"secret": "other", "key": "other"},
        {"other": "0" * 64},
        {"other": {"claim": "other", "mountPath": "/elsewhere"}},
        {"other": {"policy": "torch"}},
    ),
    *({"cpu": "100m"}, {"example.com/other": 1}, {"batch_size": 64}),
    {"metadata": {"labels": {"other": "other"}}},
    *({"NCCL_DEBUG": "other"}, [{"name": "other"}], [{"name": "other", "resourceClaimName": "other"}]),
    [{"name": "other", "hostPath": "/other", "mountPath": "/other"}],
    [{"name": "other", "type": "ib-sriov", "resourceName": "other.example.org/other"}],
    "7 7 * * *",
    # Parts of the GPU and RDMA policies, with names that their scenarios use.
    [{"field": "DCGM_FI_DEV_OTHER", "type": "gauge", "help": "other"}],
    *({"psa": {"enabled": True}}, {"nicFeatureDiscovery": {"image": "other"}}),
    {"other": [{"instances": {"3g.40gb": 2}}]},
    [{"name": "other", "linkTypes": ["ether"]}],
    [{"name": "other", "nodeSelector": {"other": "other"}}],
    [{"name": "other", "resourceName": "roce", "numVfs": 2, "linkType": "eth", "pfNames": ["other"]}],
    [{"name": "other", "resourceName": "roce", "ipam": {"type": "other"}}],
    {"leaf": "other.example.org/other"},
    [{"hosts": "other", "place": {"leaf": "other"}}],
    [{"name": "h100", "nodeLabels": {"other": "other"}}],
    [{"name": "other", "namespaces": ["other"], "quotas": [{"flavor": "h100", "resources": {"cpu": 1, "memory": 1}}]}],
]
# Without the CRDs, a megabyte that no other value affects, the operator's chart renders in a fifth of the time.
LIGHT: dict[str, dict[str, Any]] = {
    "training-operator": {"crds": {"enabled": False}},
    "kubeflow-trainer": {"crds": {"enabled": False}},
    "training-platform": {"operator": {"crds": {"enabled": False}}, "trainer": {"crds": {"enabled": False}}},
}
ABOUT = {"Name": RELEASE, "Namespace": "default"}
# Objects that are rendered only if the API of another component exists.
OPTIONAL_APIS = (
    "monitoring.coreos.com/v1",
    "monitoring.coreos.com/v1/PodMonitor",
    "monitoring.coreos.com/v1/ServiceMonitor",
)


def schema_of(chart: str) -> dict[str, Any]:
    """Return the value schema of a chart, without the values of its subcharts."""
    schema: dict[str, Any] = json.loads((CHARTS[chart] / "values.schema.json").read_text())
    own = values_of(CHARTS[chart])
    properties = {name: property_ for name, property_ in schema["properties"].items() if name in own}
    return schema | {"properties": properties}


def leaves(schema: dict[str, Any], path: Keys = ()) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield path and schema of every key in the schema that has no named keys itself."""
    # References of a part are resolved at the top.
    shared = {name: schema[name] for name in ("$defs",) if name in schema}
    for name, property_ in schema.get("properties", {}).items():
        if property_.get("properties"):
            yield from leaves(property_ | shared, (*path, name))
        else:
            yield (*path, name), property_ | shared


def nested(path: Keys, value: Any) -> Any:
    """Return `value` nested under the keys of `path`."""
    for key in reversed(path):
        value = {key: value}
    return value


def merged(first: Any, second: Any) -> Any:
    """Merge two trees of values."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first | {key: merged(first[key], value) if key in first else value for key, value in second.items()}
    return second


def alternatives(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield values that the schema of a leaf accepts: its own choices first, then the general candidates."""
    choices = [choice for part in (schema, *schema.get("anyOf", [])) for choice in part.get("enum", [])]
    items = schema.get("items", {})
    choices += [[choice] for choice in items.get("enum", [])]
    validator = Draft7Validator(schema)
    yield from (value for value in [*choices, *CANDIDATES] if validator.is_valid(value))


@functools.cache
def scenario_values(chart: str, scenario: str | None) -> Any:
    """Return the values of a scenario; those of the default are empty."""
    return yaml.load((CHARTS[chart] / "ci" / scenario).read_text(), Loader=yaml.CSafeLoader) if scenario else {}


def depth_in(chart: str, scenario: str | None, path: Keys) -> int:
    """Return how many keys of `path` a scenario sets; where it sets most, a value is likely to matter."""
    values = scenario_values(chart, scenario)
    for depth, key in enumerate(path):
        if not isinstance(values, dict) or key not in values:
            return depth
        values = values[key]
    return len(path)


def documented(schema: dict[str, Any], path: Keys) -> bool:
    """Returns true if a key, or a key above it, has a description."""
    for key in path:
        schema = schema.get("properties", {}).get(key, {})
        # Beside a reference, the generator moves the description into a part of `allOf`.
        if any(part.get("description") for part in (schema, *schema.get("allOf", []))):
            return True
    return False


@pytest.mark.parametrize("chart", CHARTS)
def test_a_schema_comment_is_short_enough_to_read(chart: str) -> None:
    comments = [line for line in (CHARTS[chart] / "values.yaml").read_text().splitlines() if "# @schema" in line]

    assert comments
    assert [line for line in comments if len(line) > 160] == []


@pytest.mark.parametrize("chart", CHARTS)
def test_every_value_is_documented(chart: str) -> None:
    schema = schema_of(chart)

    def keys(values: Any, path: Keys = ()) -> Iterator[Keys]:
        if isinstance(values, dict) and values:
            for name, value in values.items():
                yield from keys(value, (*path, name))
        else:
            yield path

    assert [path for path in keys(values_of(CHARTS[chart])) if not documented(schema, path)] == []


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize("chart", CHARTS)
def test_a_value_of_a_wrong_type_is_refused_by_name(name: str, chart: str) -> None:
    wrong: Any = {}
    for path, schema in leaves(schema_of(chart)):
        refused = [value for value in ("wrong, surely", 12.5) if not Draft7Validator(schema).is_valid(value)]
        assert refused, f"{'.'.join(path)} accepts text and number: what is it for?"
        wrong = merged(wrong, nested(path, refused[0]))

    result = template(name, CHARTS[chart], values=wrong)

    assert result.returncode != 0
    assert result.stdout == ""
    assert [path for path, _ in leaves(schema_of(chart)) if f"'/{'/'.join(path)}'" not in result.stderr] == []


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize("chart", CHARTS)
def test_an_unknown_key_is_refused_by_name(name: str, chart: str) -> None:
    result = template(name, CHARTS[chart], values={"typo": 1})

    assert result.returncode != 0
    assert "additional properties 'typo' not allowed" in result.stderr


# Without a cluster nothing is looked up. `charts/training-job/tests/job/served_test.yaml` shows the effect.
LOOKED_UP = ("scheduling", "queue", "check")


# It computes without a pause, and takes long where the tests on a cluster take the processors.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_value_changes_the_rendered_objects(chart: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A random key would change with any value.
    monkeypatch.setitem(FUNCTIONS, "randAlphaNum", lambda arguments: Value("x" * int(arguments[0].data)))
    scenarios = [scenario for name, scenario in SCENARIOS if name == chart]
    read: dict[str | None, set[Path]] = {scenario: set() for scenario in scenarios}
    light = {scenario: rendered(chart, scenario, LIGHT.get(chart, {}), read[scenario]) for scenario in scenarios}
    whole = {scenario: rendered(chart, scenario, {}, read[scenario]) for scenario in scenarios if chart in LIGHT}
    whole = whole or light
    assert all(whole.values())
    written = {path for scenario in scenarios for path in copied(chart, scenario, LIGHT.get(chart, {}))}

    def is_used(path: Keys, schema: dict[str, Any]) -> bool:
        # Rendering with other values shows it for the rest: values that are null, or that only decide what is written.
        if path in written:
            return True
        base, settings = (whole, {}) if path[0] == "crds" else (light, LIGHT.get(chart, {}))
        return any(
            rendered(chart, scenario, merged(settings, nested(path, value))) not in ("", base[scenario])
            for scenario in sorted(scenarios, key=lambda name: depth_in(chart, name, path), reverse=True)
            if path in read[scenario]
            for value in alternatives(schema)
        )

    unused = [path for path, schema in leaves(schema_of(chart)) if path != LOOKED_UP and not is_used(path, schema)]
    assert [".".join(path) for path in unused] == []


@functools.cache
def chart_of(name: str) -> Chart:
    return Chart(CHARTS[name])


@functools.cache
def schema_in(folder: pathlib.Path) -> dict[str, Any]:
    file = folder / "values.schema.json"
    return json_schema.load_schema(file) if file.exists() else {}


def is_valid(chart: Chart, values: Any) -> bool:
    """Returns true if the schemas of a chart and of its installed parts accept the values."""
    return next(json_schema.faults(schema_in(chart.folder), values), None) is None and all(
        is_valid(part, values[name]) for name, part in installed(chart, values)
    )


def rendered(chart: str, scenario: str | None, values: Any, read: set[Path] | None = None) -> str:
    """Return the rendered text, empty if the chart refuses the values. Adds the paths that templates read to `read`."""
    return "".join(text.data for text in texts(chart, scenario, values, read, traced=False))


def copied(chart: str, scenario: str | None, values: Any) -> set[Keys]:
    """Return the paths of the values, and of those around them, that are copied into the rendered text."""
    spans = (span for text in texts(chart, scenario, values) for span in spans_of(text) if span.end > span.start)
    paths = {span.origin.path for span in spans if span.origin.exact}
    return {tuple(map(str, path[:length])) for path in paths for length in range(1, len(path) + 1)}


def texts(
    chart: str,
    scenario: str | None,
    values: Any,
    read: set[Path] | None = None,
    *,
    traced: bool = True,
    about: Mapping[str, str] = ABOUT,
) -> list[Value]:
    """Return the text of each template, with its origins if `traced`; none if the chart refuses the values.

    A chart has so many values and scenarios that Helm would take minutes. gotemplate takes milliseconds;
    `tests/validator/loaders` compares it with Helm.
    """
    text = (CHARTS[chart] / "ci" / scenario).read_text() if scenario is not None else ""
    # PyYAML reads 1e-4 as text.
    documents, _ = reading.read(Source("", text))
    try:
        all_values = coalesce(chart_of(chart), merge([*(document.tree for document in documents), values]))
        if not is_valid(chart_of(chart), all_values):
            return []
        made = rendering.render_texts(chart_of(chart), all_values, about, apis=OPTIONAL_APIS, read=read, traced=traced)
        return [text for _, text in made]
    except FailedError:
        return []
