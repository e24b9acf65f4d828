"""The platform chart: its parts are the charts of this repository, and its values for runs pass the validator."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.charts.helm import CHARTS, HELMS, manifests, objects, template
from tests.charts.test_fabric import PROFILES, container, lint, values_for

CHART = CHARTS["training-platform"]
PARTS = [part for part in yaml.safe_load((CHART / "Chart.yaml").read_text())["dependencies"] if "alias" in part]


def run_values(site: str) -> dict[str, Any]:
    """Return the values that a platform provides for runs."""
    found = objects(manifests("helm", CHART.name, site))
    (kept,) = (one for one in found if one["metadata"]["name"].endswith("-run-values"))
    values: dict[str, Any] = yaml.safe_load(kept["data"]["run.yaml"])
    return values


def merged(first: Any, second: Any) -> Any:
    """Merge two values files as Helm does."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first | {key: merged(first.get(key), value) for key, value in second.items()}
    return second


def one_queue(profile: str) -> dict[str, Any]:
    """Return values of a platform with one queue and this profile."""
    quota = {"flavor": "all", "resources": dict.fromkeys(("cpu", "memory", "nvidia.com/gpu"), 1)}
    queue = {"name": "all", "namespaces": ["vision"], "quotas": [quota]}
    # RoCE requires a network; which one does not matter here.
    networks = {"networks": [{"name": "rail"}]} if profile == "onprem-roce" else {}
    queues = {"enabled": True, "flavors": [{"name": "all"}], "clusterQueues": [queue]}
    return {"fabric": {"profile": profile, **networks}, "queues": queues}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: str(part["name"]))
def test_the_version_of_a_part_is_that_of_its_chart(part: dict[str, str]) -> None:
    """Helm treats a folder of another version as an additional chart, without the alias and whatever `enabled` is."""
    assert part["version"] == yaml.safe_load((CHARTS[part["name"]] / "Chart.yaml").read_text())["version"]


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize("part", PARTS, ids=lambda part: str(part["alias"]))
def test_a_part_can_be_disabled(name: str, part: dict[str, str]) -> None:
    sources = []
    for enabled in (False, True):
        result = template(name, CHART, values={part["alias"]: {"enabled": enabled}})
        assert result.returncode == 0, result.stderr
        # Runtimes have the fabric of the site, so the platform renders them itself.
        folders = (f"charts/{part['alias']}/templates/", f"{CHART.name}/templates/{part['alias']}/")
        sources.append(any(folder in result.stdout for folder in folders))

    assert sources == [False, True]


@pytest.mark.parametrize("name", HELMS)
def test_all_parts_are_labelled_with_the_names_of_their_charts(name: str) -> None:
    result = template(name, CHART, values={part["alias"]: {"enabled": True} for part in PARTS})
    assert result.returncode == 0, result.stderr

    labels = {one["metadata"]["labels"]["app.kubernetes.io/name"] for one in objects(result.stdout)}

    assert labels == {CHART.name, *(part["name"] for part in PARTS)}


@pytest.mark.parametrize("name", HELMS)
def test_helm_prints_no_warning_about_values(name: str) -> None:
    result = template(name, CHART, scenario="kind-values.yaml")

    assert "warning" not in result.stderr


def test_every_profile_has_a_scenario() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert set(schema["properties"]["fabric"]["properties"]["profile"]["enum"]) == {"none", *PROFILES}
    assert {f"{profile}-values.yaml" for profile in PROFILES} <= {path.name for path in CHART.glob("ci/*")}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_queue_covers_all_resources_of_a_run_with_the_profile(profile: str) -> None:
    run = template("helm", CHARTS["training-job"], values=values_for(profile))
    site = template("helm", CHART, values=one_queue(profile))
    assert site.returncode == 0, site.stderr

    (queue,) = (found for found in objects(site.stdout) if found["kind"] == "ClusterQueue")

    (group,) = queue["spec"]["resourceGroups"]
    assert set(group["coveredResources"]) == set(container(run.stdout)["resources"]["limits"])


@pytest.mark.parametrize("profile", PROFILES)
def test_the_validator_finds_nothing_in_a_run_with_the_platform_s_values(profile: str) -> None:
    values = merged(values_for(profile), run_values(f"{profile}-values.yaml"))
    rendered = template("helm", CHARTS["training-job"], values=values)
    assert rendered.returncode == 0, rendered.stderr

    for text in (json.dumps(values), rendered.stdout):
        assert lint(profile, text) == "Nothing found in 1 file.\n"
