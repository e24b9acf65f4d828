"""Two loaders, one model: values loaded directly give the same model as the manifests that Helm renders from them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.charts import helm
from tests.charts.value_strategies import ARBITRARY_VALUES, NUMBER, TEXT, TREE
from tests.validator.loaders import compare
from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.facts.kubernetes.served_apis import SERVED_APIS
from trainyard.loaders import json_schema
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.training_job import values
from trainyard.loaders.training_job.chart import chart
from trainyard.model.run import Project

CHART = helm.CHARTS["training-job"]
SCHEMA = chart().schema
RELEASE = helm.RELEASE
# Hooks are not part of a run, and a training cluster serves more APIs than Kubernetes itself.
LIKE_THE_LOADER = ("--no-hooks", "--api-versions", ",".join(SERVED_APIS))


def load_values(text: str) -> tuple[Project, tuple[json_schema.Fault, ...]]:
    """Return the project of a values file, loaded without Helm, and the faults of the values."""
    documents, broken = read(Source("run.yaml", text))
    assert not broken
    made = values.documents_from_values(documents, RELEASE)
    file = made[len(documents) - 1]
    assert isinstance(file, values.ValuesDocument)
    return load_project(made), file.faults()


def load_manifests(text: str) -> Project:
    """Return the project of rendered manifests."""
    documents, broken = read(Source("rendered.yaml", text))
    assert not broken
    return load_project(documents)


@pytest.mark.parametrize("scenario", sorted(CHART.glob("ci/*-values.yaml")), ids=lambda path: path.name)
def test_both_loaders_give_the_same_model_of_every_scenario(scenario: Path) -> None:
    ours, faults = load_values(scenario.read_text())
    assert faults == ()
    rendered = helm.template("helm", CHART, *LIKE_THE_LOADER, scenario=scenario.name)
    assert compare.differences(ours, load_manifests(rendered.stdout)) == []


# A rendering takes a tenth of a second: there are few examples, and a failure, which names the fields, is not shrunk.
@settings(max_examples=60, phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow])
@given(ARBITRARY_VALUES)
def test_both_roads_lead_to_one_model_of_any_values(drawn: dict[str, Any]) -> None:
    ours, faults = load_values(json.dumps(drawn, ensure_ascii=False))
    rendered = helm.template("helm", CHART, *LIKE_THE_LOADER, values=drawn)
    assert bool(faults) == bool(rendered.returncode), faults or rendered.stderr
    event("refused" if faults else "rendered")
    if not faults:
        assert compare.differences(ours, load_manifests(rendered.stdout)) == []


def leaves(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of all nodes of a tree except its root."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, item in items for found in ((*path, key), *leaves(item, (*path, key)))]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(ARBITRARY_VALUES, st.data())
def test_the_schema_refuses_here_what_it_refuses_for_helm(drawn: dict[str, Any], data: st.DataObject) -> None:
    # Draws share objects such as those of `sampled_from`, which must not change.
    drawn = copy.deepcopy(drawn)
    paths = leaves(drawn)
    if paths:
        *parents, last = data.draw(st.sampled_from(paths))
        node: Any = drawn
        for step in parents:
            node = node[step]
        node[last] = data.draw(st.one_of(TREE, NUMBER, TEXT))
    load_values(json.dumps(drawn, ensure_ascii=False))
    valid = jsonschema.Draft7Validator(SCHEMA).is_valid(drawn)
    assert (next(json_schema.faults(SCHEMA, drawn), None) is None) == valid


def keywords(part: Any) -> set[str]:
    """Return all keywords of a schema."""
    found: set[str] = set(part)
    below = [*part.get("properties", {}).values(), *part.get("patternProperties", {}).values(), *part.get("allOf", ())]
    below += [*part.get("anyOf", ()), part.get("items", {}), part.get("additionalProperties", {})]
    return found.union(*(keywords(inner) for inner in below if inner and isinstance(inner, dict)))


def test_every_keyword_of_the_schema_is_supported() -> None:
    notes = {"$schema", "$comment", "title", "description", "default", "required", "properties", "patternProperties"}
    assert keywords(SCHEMA) - notes <= json_schema.KEYWORDS


def test_values_of_another_chart_with_a_key_of_ours_are_not_taken_for_ours() -> None:
    text = "initContainers: {enabled: false}\nreplicas: 3\nenvSecrets: {APIKEY_KEYS: apikeys}\n"
    assert not values.recognises(read(Source("weaviate.yaml", text))[0][0])


def test_a_model_of_torchserve_with_a_key_of_ours_is_not_taken_for_values() -> None:
    text = "minWorkers: 1\nresponseTimeout: 300\ntorchrun: {nproc-per-node: 4}\ndeepspeed: {config: ds-config.json}\n"
    assert not values.recognises(read(Source("model-config.yaml", text))[0][0])
