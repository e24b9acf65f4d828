"""The validator reads a site from the objects that Helm renders from the same values with charts/training-platform."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from gotemplate import rendering
from gotemplate.merging import coalesce
from tests.charts import helm
from trainyard.document import reading
from trainyard.document.source import Source
from trainyard.facts.kubernetes.served_apis import SERVED_APIS
from trainyard.loaders import json_schema
from trainyard.loaders.site.chart import FOLDER, platform_chart
from trainyard.loaders.site.loading import load_site

CHART = helm.ROOT / "charts" / "training-platform"
SITES = sorted(CHART.glob("ci/*-values.yaml"))
NAMESPACE = "platform"
OPTIONS = ("--namespace", NAMESPACE, "--api-versions", ",".join(SERVED_APIS))
DEFINITION = "CustomResourceDefinition"


@functools.cache
def by_helm(path: Path) -> list[dict[str, Any]]:
    """The objects that Helm renders, in its order. Of a CustomResourceDefinition only the name counts."""
    made = helm.template("helm", CHART, *OPTIONS, scenario=path.name)
    assert made.returncode == 0, made.stderr
    documents, broken = reading.read(Source(path.name, made.stdout))
    assert not broken
    return [document.tree for document in documents]


def by_us(path: Path) -> list[dict[str, Any]]:
    """The objects that are rendered here."""
    documents, _ = reading.read(Source(path.name, path.read_text()))
    values = coalesce(platform_chart(), documents[0].tree)
    about = {"Name": helm.RELEASE, "Namespace": NAMESPACE}
    return [made.tree for made in rendering.render_chart(platform_chart(), values, about, apis=SERVED_APIS)]


def identities(trees: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(tree["kind"], tree["metadata"]["name"]) for tree in trees]


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.name)
def test_the_objects_are_those_that_helm_renders(path: Path) -> None:
    ours, theirs = by_us(path), by_helm(path)
    definitions = {one for one in identities(theirs) if one[0] == DEFINITION}
    assert {one for one in identities(ours) if one[0] == DEFINITION} == definitions
    ours, theirs = ([tree for tree in trees if tree["kind"] != DEFINITION] for trees in (ours, theirs))
    assert identities(ours) == identities(theirs)
    assert ours == theirs


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.name)
def test_the_values_for_runs_are_the_same(path: Path) -> None:
    kept = next(one for one in by_helm(path) if one["kind"] == "ConfigMap" and "run.yaml" in one.get("data", {}))
    values = yaml.safe_load(kept["data"]["run.yaml"])
    for network in values["fabric"].get("networks", ()):
        if network.get("namespace") == NAMESPACE:
            del network["namespace"]
    assert load_site(str(path)).run_values.tree == values


def test_the_schemas_have_no_keyword_that_is_not_looked_at() -> None:
    notes = {"$schema", "$comment", "title", "description", "default", "required", "properties", "patternProperties"}
    files = [FOLDER / "values.schema.json", *FOLDER.glob("charts/*/values.schema.json")]
    assert len(files) == 8
    for file in files:
        assert keywords(json_schema.load_schema(file)) - notes <= json_schema.KEYWORDS, file


def keywords(part: Any) -> set[str]:
    """The keywords of a schema, at any depth."""
    found: set[str] = set(part)
    below = [*part.get("properties", {}).values(), *part.get("patternProperties", {}).values(), *part.get("allOf", ())]
    below += [*part.get("anyOf", ()), part.get("items", {}), part.get("additionalProperties", {})]
    return found.union(*(keywords(inner) for inner in below if inner and isinstance(inner, dict)))
