"""The alerts of training-monitoring fire when they should; alerts and dashboards query metrics that exist."""

from __future__ import annotations

import functools
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.charts.helm import CHARTS, SCENARIOS, objects, template, tool
from tests.charts.kubeconform import kubeconform
from tests.harness.jobs import dashboards, monitors, prometheus, promql

CHART = CHARTS["training-monitoring"]
API = ("--api-versions", "monitoring.coreos.com/v1")
SCENES = [scenario for chart, scenario in SCENARIOS if chart == CHART.name]
ALERTS: dict[str, dict[str, str]] = yaml.safe_load((CHART / "files/alerts.yaml").read_text())
CASES = Path(__file__).with_name("alerts")
PANELS = Path(__file__).with_name("panels.yaml")
TRAINER_METRICS = Path(__file__).parents[2] / "schemas/documented/metrics/trainer.txt"


@functools.cache
def manifests(scenario: str | None) -> str:
    """Return the manifests of a release on a cluster with the Prometheus operator."""
    result = template("helm", CHART, *API, scenario=scenario)
    assert result.returncode == 0, result.stderr
    return result.stdout


def objects_of_kind(kind: str, scenario: str | None = None) -> Iterator[dict[str, Any]]:
    """Return the objects of one kind in a release on a cluster with the Prometheus operator."""
    return (found for found in objects(manifests(scenario)) if found["kind"] == kind)


def rules(scenario: str | None = None) -> dict[str, Any]:
    """Return the rules file that a release gives to Prometheus."""
    (found,) = objects_of_kind("PrometheusRule", scenario)
    return {"groups": found["spec"]["groups"]}


def annotation(name: str) -> dict[str, str]:
    """Return an annotation of each alert in a scenario with the addresses of the runbooks and of Grafana."""
    (group,) = rules("foreign-values.yaml")["groups"]
    return {rule["alert"]: rule["annotations"][name] for rule in group["rules"]}


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, check=False)


def all_queries() -> list[dashboards.Query]:
    """Return all queries of the dashboards."""
    return [query for found in objects_of_kind("ConfigMap") for query in dashboards.queries(dashboards.contents(found))]


@pytest.mark.parametrize("scenario", SCENES)
def test_every_object_is_valid_for_the_prometheus_operator(scenario: str | None) -> None:
    result = kubeconform(manifests(scenario))

    assert result.returncode == 0, result.stdout + result.stderr
    assert "Skipped: 0" in result.stdout


@pytest.mark.parametrize("scenario", SCENES)
def test_prometheus_accepts_the_rules(scenario: str | None, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump(rules(scenario)))

    result = promtool("check", "rules", "--lint=all", "--lint-fatal", file)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("scenario", SCENES)
def test_prometheus_accepts_the_configuration_of_the_monitors(scenario: str | None, tmp_path: Path) -> None:
    found = [one for kind in monitors.ENDPOINTS for one in objects_of_kind(kind, scenario)]
    file = tmp_path / "prometheus.yaml"
    file.write_text(yaml.safe_dump(prometheus.configuration(found)))
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules(scenario)))

    result = promtool("check", "config", "--syntax-only", "--lint=all", "--lint-fatal", file)

    assert found
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("key", ALERTS)
def test_an_alert_fires_when_it_should_and_only_then(key: str, tmp_path: Path) -> None:
    """The runbook is the same text each time, and is left out of the cases."""
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
    assert fires == {True, False}, "an alert needs a case in which it fires, and one in which it does not"


def test_every_case_is_of_an_existing_alert() -> None:
    assert {file.stem for file in CASES.glob("*.yaml")} == set(ALERTS)


def test_every_alert_can_be_set_in_the_values() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())["alerts"]

    assert set(values) - {"labels", "alertLabels", "runbookUrl"} == set(ALERTS)
    assert all({"enabled", "for", "severity"} <= set(values[key]) for key in ALERTS)


def test_a_runbook_url_leads_to_the_heading_of_its_alert_in_the_readme() -> None:
    headings = re.findall(r"^### (.+)$", (CHART / "README.md").read_text(), re.MULTILINE)
    urls = annotation("runbook_url")

    assert urls == {name: f"https://docs.example.com/training/monitoring/#{name.lower()}" for name in urls}
    assert sorted(headings) == sorted(urls) == sorted(alert["alert"] for alert in ALERTS.values())


@pytest.mark.parametrize("key", ALERTS)
def test_a_dashboard_url_selects_the_run_by_labels_of_its_alert(key: str) -> None:
    url = urlsplit(annotation("dashboard_url")[ALERTS[key]["alert"]])
    shown = {one["uid"]: one for one in map(dashboards.contents, objects_of_kind("ConfigMap"))}
    tests = yaml.safe_load((CASES / f"{key}.yaml").read_text())["tests"]
    fired = [alert["exp_labels"] for test in tests for look in test["alert_rule_test"] for alert in look["exp_alerts"]]

    assert f"{url.scheme}://{url.netloc}" == "https://grafana.example.com"
    uid = url.path.removeprefix("/d/")
    variables = {one["name"] for one in shown[uid]["templating"]["list"] if one["type"] == "query"}
    assert {f"var-{name}" for name in variables} == set(parse_qs(url.query))
    labels = {text for (value,) in parse_qs(url.query).values() for text in re.findall(r"\$labels\.(\w+)", value)}
    assert len(labels) == len(variables)
    assert all(labels <= set(found) for found in fired)


def test_every_metric_of_an_alert_has_an_exporter() -> None:
    (group,) = rules()["groups"]
    asked = {rule["alert"]: promql.exporters_of(rule["expr"]) for rule in group["rules"]}

    assert all(asked.values())
    assert [(alert, name) for alert, found in asked.items() for name, who in found.items() if not who] == []


def test_every_metric_of_a_dashboard_has_an_exporter() -> None:
    asked = {query: promql.exporters_of(query.expression) for query in all_queries()}

    assert {query.dashboard for query in asked} == {"Training run", "Training fleet"}
    assert [(str(query), name) for query, found in asked.items() for name, who in found.items() if not who] == []


def test_the_dashboards_show_every_result_on_test_data() -> None:
    shown = {name for query in all_queries() for name in promql.exporters_of(query.expression)}

    exported = TRAINER_METRICS.read_text().split()
    assert {name for name in exported if name.startswith("trainer_test_")} <= shown


def test_the_dashboards_show_the_speed_of_a_run_and_its_slow_ranks() -> None:
    shown = {name.removesuffix("_sum") for query in all_queries() for name in promql.exporters_of(query.expression)}

    assert {"trainer_mfu", "trainer_part_seconds_total", "trainer_step_seconds", "trainer_straggler_score"} <= shown


def test_no_panel_shows_the_operator_s_count_of_restarts_which_is_several_for_one() -> None:
    shown = {name for query in all_queries() for name in promql.exporters_of(query.expression)}

    assert "training_operator_jobs_failed_total" in shown
    assert "training_operator_jobs_restarted_total" not in shown


def test_a_panel_shows_what_its_series_say(tmp_path: Path) -> None:
    expressions: dict[str, str] = {}
    for query in all_queries():
        expression = promql.substitute_variables(query.expression, namespace="vision", run="run-42")
        expressions.setdefault(str(query), expression)
    cases = yaml.safe_load(PANELS.read_text())
    for look in itertools.chain(*(test["promql_expr_test"] for test in cases["tests"])):
        look["expr"] = expressions[look["expr"]]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump(cases))

    result = promtool("test", "rules", file)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("rate(trainer_sample_total[5m])", ["trainer_sample_total"]),
        ("sum(up) > on () group_left max_over_time(gpu_hot[5m:1m])", ["gpu_hot"]),
        ("histogram_quantile(0.9, rate(controller_runtime_reconcile_time_seconds_bucket[$__rate_interval]))", []),
    ],
)
def test_a_metric_without_an_exporter_is_reported(expression: str, missing: list[str]) -> None:
    assert [name for name, who in promql.exporters_of(expression).items() if not who] == missing


def test_an_expression_that_is_not_promql_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid promql"):
        promql.metrics("sum by (run up)")


def test_grafana_s_model_has_every_field_of_the_dashboards() -> None:
    plugins.register_default_plugins()  # otherwise the fields of panels and data sources are not checked
    found = [dashboards.contents(config_map) for config_map in objects_of_kind("ConfigMap")]

    assert found
    for dashboard in found:
        known = json.loads(json.dumps(Dashboard.from_json(dashboard), default=lambda part: part.to_json()))
        assert list(missing_paths(dashboard, known)) == []


def missing_paths(given: Any, known: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of `given` that are not in `known`."""
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            yield from missing_paths(value, known[key], f"{path}.{key}") if key in known else [f"{path}.{key}"]
    elif isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        for number, (one, other) in enumerate(zip(given, known, strict=True)):
            yield from missing_paths(one, other, f"{path}[{number}]")
    elif given != known:
        yield path


def test_the_panels_of_a_dashboard_do_not_overlap() -> None:
    for dashboard in map(dashboards.contents, objects_of_kind("ConfigMap")):
        places = [panel["gridPos"] for panel in dashboard["panels"]]

        assert all(place["x"] + place["w"] <= 24 for place in places)
        assert not [
            (one, other)
            for one, other in itertools.combinations(places, 2)
            if one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            if one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"]
        ]
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


def test_a_row_of_numbers_is_half_as_high_as_one_of_graphs() -> None:
    for dashboard in map(dashboards.contents, objects_of_kind("ConfigMap")):
        rows: dict[int, list[dict[str, Any]]] = {}
        for panel in dashboard["panels"]:
            rows.setdefault(panel["gridPos"]["y"], []).append(panel)
        heights = {
            (frozenset(panel["type"] for panel in row), *{panel["gridPos"]["h"] for panel in row})
            for row in rows.values()
        }

        assert heights == {(frozenset({"row"}), 1), (frozenset({"stat"}), 4), (frozenset({"timeseries"}), 8)}
        ends = [y + row[0]["gridPos"]["h"] for y, row in rows.items()]
        assert [*rows] == [0, *ends[:-1]]
