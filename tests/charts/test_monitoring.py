"""The alerts of training-monitoring fire when they should, and alerts and dashboards ask for metrics that there are."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.jobs import dashboards, monitors, prometheus, promql

from .helm import CHARTS, SCENARIOS, objects, template, tool
from .kubeconform import kubeconform

CHART = CHARTS["training-monitoring"]
API = ("--api-versions", "monitoring.coreos.com/v1")
SCENES = [scenario for chart, scenario in SCENARIOS if chart == CHART.name]
ALERTS: dict[str, dict[str, str]] = yaml.safe_load((CHART / "files/alerts.yaml").read_text())
CASES = Path(__file__).with_name("alerts")


def of_kind(kind: str, scenario: str | None = None) -> Iterator[dict[str, Any]]:
    """The objects of one kind in a release where the Prometheus operator is."""
    result = template("helm", CHART, *API, scenario=scenario)
    assert result.returncode == 0, result.stderr
    return (found for found in objects(result.stdout) if found["kind"] == kind)


def rules(scenario: str | None = None) -> dict[str, Any]:
    """The file of rules that a release gives Prometheus."""
    (found,) = of_kind("PrometheusRule", scenario)
    return {"groups": found["spec"]["groups"]}


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, check=False)


def all_queries() -> list[dashboards.Query]:
    """Everything that the dashboards ask."""
    return [query for found in of_kind("ConfigMap") for query in dashboards.queries(dashboards.contents(found))]


@pytest.mark.parametrize("scenario", SCENES)
def test_the_prometheus_operator_would_take_every_object(scenario: str | None) -> None:
    result = kubeconform(template("helm", CHART, *API, scenario=scenario).stdout)

    assert result.returncode == 0, result.stdout + result.stderr
    assert "Skipped: 0" in result.stdout


@pytest.mark.parametrize("scenario", SCENES)
def test_prometheus_takes_the_rules(scenario: str | None, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump(rules(scenario)))

    result = promtool("check", "rules", "--lint=all", "--lint-fatal", file)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("scenario", SCENES)
def test_prometheus_takes_the_monitors(scenario: str | None, tmp_path: Path) -> None:
    found = [one for kind in monitors.ENDPOINTS for one in of_kind(kind, scenario)]
    file = tmp_path / "prometheus.yaml"
    file.write_text(yaml.safe_dump(prometheus.configuration(found)))
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules(scenario)))

    result = promtool("check", "config", "--syntax-only", "--lint=all", "--lint-fatal", file)

    assert found
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("key", ALERTS)
def test_an_alert_fires_when_it_should_and_only_then(key: str, tmp_path: Path) -> None:
    """What to do is the same text each time, and is left out of the cases."""
    given = rules()
    for rule in given["groups"][0]["rules"]:
        del rule["annotations"]["runbook"]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(given))
    cases = Path(shutil.copy(CASES / f"{key}.yaml", tmp_path))

    result = promtool("test", "rules", cases)

    assert result.returncode == 0, result.stdout + result.stderr
    looks = [test["alert_rule_test"] for test in yaml.safe_load(cases.read_text())["tests"]]
    assert {look["alertname"] for case in looks for look in case} == {ALERTS[key]["alert"]}
    fires = {any(look["exp_alerts"] for look in case) for case in looks}
    assert fires == {True, False}, "there is to be a case in which it fires, and one in which it does not"


def test_there_is_no_case_of_an_alert_that_there_is_not() -> None:
    assert {file.stem for file in CASES.glob("*.yaml")} == set(ALERTS)


def test_every_alert_can_be_set_in_the_values() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())["alerts"]

    assert set(values) - {"labels", "alertLabels"} == set(ALERTS)
    assert all({"enabled", "for", "severity"} <= set(values[key]) for key in ALERTS)


def test_every_metric_of_an_alert_is_one_that_an_exporter_has() -> None:
    (group,) = rules()["groups"]
    asked = {rule["alert"]: promql.exporters_of(rule["expr"]) for rule in group["rules"]}

    assert all(asked.values())
    assert [(alert, name) for alert, found in asked.items() for name, who in found.items() if not who] == []


def test_every_metric_of_a_dashboard_is_one_that_an_exporter_has() -> None:
    asked = {query: promql.exporters_of(query.expression) for query in all_queries()}

    assert {query.dashboard for query in asked} == {"Training run", "Training fleet"}
    assert [(str(query), name) for query, found in asked.items() for name, who in found.items() if not who] == []


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("rate(trainer_sample_total[5m])", ["trainer_sample_total"]),
        ("sum(up) > on () group_left max_over_time(gpu_hot[5m:1m])", ["gpu_hot"]),
        ("histogram_quantile(0.9, rate(controller_runtime_reconcile_time_seconds_bucket[$__rate_interval]))", []),
    ],
)
def test_a_metric_that_no_exporter_has_is_found(expression: str, missing: list[str]) -> None:
    assert [name for name, who in promql.exporters_of(expression).items() if not who] == missing


def test_an_expression_that_is_not_promql_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid promql"):
        promql.metrics("sum by (run up)")


def test_grafana_knows_every_field_of_the_dashboards() -> None:
    plugins.register_default_plugins()  # else what is a panel's or a data source's own is not looked at
    found = [dashboards.contents(config_map) for config_map in of_kind("ConfigMap")]

    assert found
    for dashboard in found:
        known = json.loads(json.dumps(Dashboard.from_json(dashboard), default=lambda part: part.to_json()))
        assert list(lost(dashboard, known)) == []


def lost(given: Any, known: Any, path: str = "") -> Iterator[str]:
    """Places of `given` that are not in `known`."""
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            yield from lost(value, known[key], f"{path}.{key}") if key in known else [f"{path}.{key}"]
    elif isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        for number, (one, other) in enumerate(zip(given, known, strict=True)):
            yield from lost(one, other, f"{path}[{number}]")
    elif given != known:
        yield path


def test_the_panels_of_a_dashboard_do_not_overlap() -> None:
    for dashboard in map(dashboards.contents, of_kind("ConfigMap")):
        places = [panel["gridPos"] for panel in dashboard["panels"]]

        assert all(place["x"] + place["w"] <= 24 for place in places)
        assert not [
            (one, other)
            for one, other in itertools.combinations(places, 2)
            if one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            if one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"]
        ]
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)
