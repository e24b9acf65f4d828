"""The table of faults: the results that count, and the text of its cells."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tools.faults import faults, record, table
from tools.faults.faults import RANK_KILLED, Fault
from tools.faults.measure import Result

REPOSITORY = Path(__file__).parents[2]

OURS = Result(
    fault=RANK_KILLED.name,
    runner="ours",
    seconds=2.0,
    paused=3.0,
    noticed=True,
    steps_lost=4,
    restarts=1,
    reason="",
    end="running",
    step_seconds=0.3,
    saves_failed=0,
    saved_after=True,
    recovered=4.0,
    rate=1.5,
)
STOCK = dataclasses.replace(OURS, runner="stock", seconds=8.0, paused=12.0, recovered=12.0, rate=0.0)
NEVER = dataclasses.replace(OURS, recovered=None, rate=None)
FAILED = dataclasses.replace(NEVER, seconds=None, paused=None, reason="no steps", end="failed")
GOES_ON = dataclasses.replace(NEVER, seconds=0.4, paused=0.0, noticed=False, steps_lost=0, restarts=0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record.RECORD.parent.mkdir(parents=True)


def row(ours: list[Result], stock: list[Result]) -> dict[str, str]:
    """Return the cells of a row by the names of their columns; those of the stock job end with `, stock`."""
    [cells] = table.rows([RANK_KILLED], {(RANK_KILLED.name, "ours"): ours, (RANK_KILLED.name, "stock"): stock})
    names = [
        f"{before}, stock" if name == "stock" else name
        for before, name in zip(("", *table.COLUMNS), table.COLUMNS, strict=False)
    ]
    return dict(zip(names, cells, strict=True))


def with_times(result: Result, *seconds: float) -> list[Result]:
    return [dataclasses.replace(result, seconds=each, paused=each + 1) for each in seconds]


def test_a_cell_of_one_measurement_is_its_number() -> None:
    cells = row([OURS], [STOCK])
    assert (cells["s to the next step"], cells["s to the next step, stock"]) == ("2.0", "8.0")
    assert (cells["s without steps"], cells["s without steps, stock"]) == ("3.0", "12.0")
    assert (cells["s until both pods train"], cells["s until both pods train, stock"]) == ("4.0", "12.0")
    assert (cells["steps/s meanwhile"], cells["steps/s meanwhile, stock"]) == ("1.5", "0.0")
    assert (cells["ours to stock"], cells["steps lost"], cells["restarts"]) == ("0.25", "4", "1")


def test_a_cell_of_several_measurements_is_their_median_with_the_range() -> None:
    cells = row(with_times(OURS, 2, 9, 3), with_times(STOCK, 19, 7, 15))
    assert cells["s to the next step"] == "3.0 (2.0 to 9.0)"
    assert cells["s without steps, stock"] == "16.0 (8.0 to 20.0)"
    assert cells["ours to stock"] == "0.25"
    assert cells["restarts"] == "1"


def test_runs_that_end_in_different_ways_are_counted() -> None:
    cells = row([OURS, FAILED, OURS], [STOCK, STOCK, FAILED])
    assert cells["s to the next step"] == "2.0, 1 of 3 no"
    assert cells["s without steps"] == "3.0"
    goes_on = row([GOES_ON, GOES_ON], [FAILED])
    assert (goes_on["s to the next step"], goes_on["s until both pods train"]) == ("goes on", "")


def test_a_run_without_an_interruption_has_no_ratio() -> None:
    assert row([GOES_ON], [STOCK])["ours to stock"] == ""
    assert row([OURS], [FAILED])["ours to stock"] == ""


def test_a_job_that_was_not_measured_has_empty_cells() -> None:
    cells = row([OURS], [])
    assert cells["s to the next step, stock"] == "not measured"
    assert {cells[name] for name in ("s without steps, stock", "restarts, stock", "steps/s meanwhile, stock")} == {""}


def test_the_newest_three_results_of_a_fault_count() -> None:
    for result in (measured := with_times(OURS, 2, 3, 4, 5)):
        record.save_result(result)
    record.save_result(STOCK)

    results = record.load_results()
    assert results == {(RANK_KILLED.name, "ours"): measured[1:], (RANK_KILLED.name, "stock"): [STOCK]}
    assert table.measurements([RANK_KILLED], results) == "1 to 3 measurements each"
    assert table.measurements([], results) == "one measurement each"


def test_a_table_names_the_days_of_its_results() -> None:
    assert table.period([]) == []
    for day, result in zip((19, 21, 21, 21), with_times(OURS, 2, 3, 4, 5), strict=True):
        record.save_result(result, f"2026-11-{day}")
    assert record.days() == ["2026-11-21"], "the result of the first day does not count any more"
    assert table.period(record.days()) == []
    record.save_result(STOCK, "2026-11-27")
    assert record.days() == ["2026-11-21", "2026-11-27"]
    assert table.period(record.days()) == ["measured from 2026-11-21 to 2026-11-27"]


def test_the_page_shows_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    shown = [line for line in table.PAGE.read_text().splitlines() if line.startswith("| ")]
    for row in table.rows(faults.all_faults(quick=False), record.load_results()):
        assert f"| {' | '.join(row)} |" in shown


def test_each_reason_and_each_end_of_a_job_is_given_once() -> None:
    measured = {(RANK_KILLED.name, "ours"): [FAILED, OURS, FAILED]}
    why = f"{RANK_KILLED.what}, ours: "
    assert table.reasons([RANK_KILLED], measured) == [f"{why}no steps", f"{why}the job is failed afterwards"]
    assert table.reasons([Fault("other", "another", RANK_KILLED.inject)], measured) == []
