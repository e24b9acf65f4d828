"""The dashboards as Grafana's own components draw them: colours, units, legends, and panels without data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.charts.test_monitoring import objects_of_kind
from tests.harness.browser import chromium
from tests.harness.grafana import answers as asked
from tests.harness.grafana.drawing import Panel, drawn
from tests.harness.jobs import dashboards

END = 1_790_000_000
START = END - 3 * 3600
Labels = Mapping[str, str]
# Labels and value of each series of a panel, by the panel's title; several queries have one series each.
Shown = Mapping[str, Sequence[tuple[Labels, float]]]
RUN = {"namespace": "vision", "run": "run-42"}
PODS = [{"pod": f"run-42-{name}-0"} for name in ("master", "worker")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of all tests of this file."""
    with chromium() as started:
        yield started


def dashboard(title: str) -> dict[str, Any]:
    """Return a dashboard of the chart with its default values."""
    (found,) = (one for one in map(dashboards.contents, objects_of_kind("ConfigMap")) if one["title"] == title)
    return found


def drawing(browser: Browser, title: str, shown: Shown) -> tuple[dict[str, Panel], list[str]]:
    """Return the drawn panels that `shown` names, or all panels if it names none, and the faults of the page."""
    whole = dashboard(title)
    chosen = [panel for panel in asked.panels(whole) if panel["title"] in shown or not shown]
    assert {panel["title"] for panel in chosen} >= set(shown)
    answers = {panel["id"]: series(panel, shown.get(panel["title"], ())) for panel in chosen}
    with drawn(browser, {**whole, "panels": chosen}, answers, start=START, end=END) as found:
        return found.panels(), found.faults


def series(panel: Mapping[str, Any], values: Sequence[tuple[Labels, float]]) -> dict[str, list[asked.Object]]:
    """Return the answers to a panel's queries: constant series, all of the only query or one of each."""
    ids = [target["refId"] for target in panel["targets"]]
    found: dict[str, list[asked.Object]] = {name: [] for name in ids}
    for number, (labels, value) in enumerate(values):
        times = [END] if panel["targets"][0].get("instant") else range(START, END + 1, 60)
        one = {"metric": labels, "values": [(time, str(value)) for time in times]}
        found[ids[number if len(ids) > 1 else 0]].append(one)
    return found


def looks(panel: Panel) -> list[tuple[str, str]]:
    """Return text and colour of each number of a panel."""
    return [(value.text, value.color) for value in panel.values]


def test_firing_alerts_are_red_and_many_runs_are_not(browser: Browser) -> None:
    names = ["TrainingOperatorDown", "TrainingGpuXid", "TrainingLinkFlap"]
    panels, _ = drawing(
        browser,
        "Training fleet",
        {
            "Alerts": [({"alertname": name}, 3) for name in names],
            "Scraped runs": [({}, 96)],
            "Failed preflights": [({"namespace": "vision", "pod": "run-42-preflight-0-x2x4x"}, 1)],
        },
    )

    assert looks(panels["Alerts"]) == [("3", "red")] * 3
    assert [value.name for value in panels["Alerts"].values] == names
    assert looks(panels["Scraped runs"]) == [("96", "green")]
    assert looks(panels["Failed preflights"]) == [("1", "red")]
    assert panels["Failed preflights"].values[0].name == "vision/run-42-preflight-0-x2x4x"


def test_a_number_of_the_dashboard_is_that_of_now_and_not_of_an_alert_that_has_ended() -> None:
    for one in map(dashboards.contents, objects_of_kind("ConfigMap")):
        kinds = {
            (panel["type"], target.get("instant", False)) for panel in asked.panels(one) for target in panel["targets"]
        }
        assert kinds == {("stat", True), ("timeseries", False)}


@pytest.mark.parametrize(
    ("age", "text", "color"),
    [(414, "6.90 mins", "green"), (14_399, "4.00 hours", "green"), (14_401, "4.00 hours", "red")],
)
def test_a_checkpoint_is_red_at_the_age_of_its_alert(browser: Browser, age: float, text: str, color: str) -> None:
    title = "Age of the newest checkpoint"
    panels, _ = drawing(browser, "Training run", {title: [({}, age)]})

    assert looks(panels[title]) == [(text, color)]


def test_a_finished_run_is_green_and_a_slow_rank_or_a_missing_pod_is_not(browser: Browser) -> None:
    def numbers(done: float, slowest: float, up: float) -> list[list[tuple[str, str]]]:
        shown: Shown = {
            "Completed epochs": [({}, done), ({}, 90)],
            "Slowest rank": [({}, slowest)],
            "Scraped pods": [({}, up)],
        }
        panels, _ = drawing(browser, "Training run", shown)
        return [looks(panels[title]) for title in shown]

    green = "green"
    assert numbers(90, 0.97, 1) == [[("90", green), ("90", green)], [("97%", green)], [("100%", green)]]
    assert numbers(2, 0.6, 0.5) == [[("2", green), ("90", green)], [("60%", "orange")], [("50%", "red")]]
    assert numbers(2, 0.45, 1)[1] == [("45%", "red")]


def test_graphs_have_units_and_legends(browser: Browser) -> None:
    panels, faults = drawing(
        browser,
        "Training run",
        {
            "Time of a step": [({}, 0.25)],
            "Slowest ranks": [({"rank": "0"}, 1), ({"rank": "7"}, 0.5)],
            "Samples per second": [({}, 7270)],
            "Pod network": [(pod, 3_000_000) for pod in PODS],
            "Memory in use": [(pod, 3 * 1024**3) for pod in PODS],
            "Power": [({**PODS[0], "gpu": "3"}, 650)],
        },
    )

    def unit(title: str) -> set[str]:
        return {text.lstrip("0123456789.").strip() for text in panels[title].scale if re.match(r"0*[1-9][^:]*$", text)}

    assert unit("Time of a step") <= {"ms", "s"}
    assert unit("Slowest ranks") == {"%"}
    assert unit("Samples per second") == {"K"}
    assert unit("Pod network") == {"MB/s"}
    assert unit("Memory in use") == {"GiB"}
    assert unit("Power") == {"W"}
    assert panels["Slowest ranks"].legend == ("rank 0", "rank 7")
    assert panels["Pod network"].legend == ("run-42-master-0 sends", "run-42-worker-0 sends")
    assert panels["Power"].legend == ("run-42-master-0 3",)
    assert faults == []


def test_a_panel_without_data_says_so_and_one_without_faults_does_not(browser: Browser) -> None:
    panels, faults = drawing(browser, "Training fleet", {})

    assert looks(panels["Alerts"]) == [("none", "green")]
    assert {panels[title].message for title in ("Failed links", "Last XID", "Faults of nodes")} == {"none seen"}
    assert panels["Time of a step"].message == "No data"
    assert panels["Scraped runs"].values[0].text == "No data"
    assert {title for title, panel in panels.items() if not panel.is_empty} == {
        "Alerts",
        "Failed links",
        "Failed preflights",
        "Failed row remappings",
        "Faults of nodes",
        "Jobs refused because the webhook fails",
        "Last XID",
        "Recreated pods",
    }
    assert faults == []
