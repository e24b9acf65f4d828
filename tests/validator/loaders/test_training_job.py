"""Two roads, one model: what the validator makes of values is what Helm renders from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.charts import helm
from tests.charts.drawn import FREE, NUMBER, TEXT, TREE
from validator.facts.served_apis import SERVED_APIS
from validator.model import Project
from validator.reading import read
from validator.roads import compare, schema, values
from validator.roads.manifest import project
from validator.roads.training_job.chart import chart
from validator.source import Source

CHART = helm.CHARTS["training-job"]
SCHEMA = chart().schema
RELEASE = helm.RELEASE
# A test is no run, and a cluster for training serves more than Kubernetes does.
AS_THE_ROAD = ("--no-hooks", "--api-versions", ",".join(SERVED_APIS))


def by_values(text: str) -> tuple[Project, tuple[schema.Fault, ...]]:
    """The project of a values file, without Helm, and what is wrong with the values."""
    documents, broken = read(Source("run.yaml", text))
    assert not broken
    made = values.documents(documents, RELEASE)
    file = made[len(documents) - 1]
    assert isinstance(file, values.ValuesDocument)
    return project(made), file.faults()


def by_manifests(text: str) -> Project:
    """The project of what Helm has rendered."""
    documents, broken = read(Source("rendered.yaml", text))
    assert not broken
    return project(documents)


@pytest.mark.parametrize("scenario", sorted(CHART.glob("ci/*-values.yaml")), ids=lambda path: path.name)
def test_both_roads_lead_to_one_model_of_every_scenario(scenario: Path) -> None:
    ours, faults = by_values(scenario.read_text())
    assert faults == ()
    rendered = helm.template("helm", CHART, *AS_THE_ROAD, scenario=scenario.name)
    assert compare.differences(ours, by_manifests(rendered.stdout)) == []


# A render takes a tenth of a second: the examples are few, and a failure, which names the fields, is not made smaller.
@settings(max_examples=60, phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow])
@given(FREE)
def test_both_roads_lead_to_one_model_of_any_values(drawn: dict[str, Any]) -> None:
    ours, faults = by_values(json.dumps(drawn, ensure_ascii=False))
    rendered = helm.template("helm", CHART, *AS_THE_ROAD, values=drawn)
    assert bool(faults) == bool(rendered.returncode), faults or rendered.stderr
    event("refused" if faults else "rendered")
    if not faults:
        assert compare.differences(ours, by_manifests(rendered.stdout)) == []


def leaves(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of all nodes of a tree but its root."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, item in items for found in ((*path, key), *leaves(item, (*path, key)))]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(FREE, st.data())
def test_the_schema_refuses_here_what_it_refuses_for_helm(drawn: dict[str, Any], data: st.DataObject) -> None:
    paths = leaves(drawn)
    if paths:
        *parents, last = data.draw(st.sampled_from(paths))
        node: Any = drawn
        for step in parents:
            node = node[step]
        node[last] = data.draw(st.one_of(TREE, NUMBER, TEXT))
    by_values(json.dumps(drawn, ensure_ascii=False))
    valid = jsonschema.Draft7Validator(SCHEMA).is_valid(drawn)
    assert (next(schema.faults(SCHEMA, drawn), None) is None) == valid


def keywords(part: Any) -> set[str]:
    """The keywords of a schema, at any depth."""
    found: set[str] = set(part)
    below = [*part.get("properties", {}).values(), *part.get("patternProperties", {}).values(), *part.get("allOf", ())]
    below += [*part.get("anyOf", ()), part.get("items", {}), part.get("additionalProperties", {})]
    return found.union(*(keywords(inner) for inner in below if inner and isinstance(inner, dict)))


def test_the_schema_has_no_keyword_that_is_not_looked_at() -> None:
    notes = {"$schema", "$comment", "title", "description", "default", "required", "properties", "patternProperties"}
    assert keywords(SCHEMA) - notes <= schema.KEYWORDS
