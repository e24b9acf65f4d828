"""The effective training time ratio, which the event log keeps over all processes of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.trainer.step_metrics import run_start, step_metrics
from trainer.checkpoint.metrics import CheckpointMetrics
from trainer.metrics.events import Events
from trainer.metrics.productive import ProductiveTime
from trainer.metrics.sinks import SinkGroup

# Of the 0.25 s of a step: data, forward, backward, update and exchange, but not the wait for a save.
PRODUCTIVE = 0.24


class Clock:
    """The time of day, which only the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("time.time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands at 1000."""
    return Clock(monkeypatch)


def process(log: Path, clock: Clock, resumed: int, steps: Iterable[int]) -> ProductiveTime:
    """A process that resumes from a step, takes these steps in 0.25 s each, and is killed."""
    productive = ProductiveTime(log)
    sinks = SinkGroup([productive, Events(log, CheckpointMetrics(), productive)])
    sinks.on_start(run_start(resumed))
    for step in steps:
        clock.now += 0.25
        sinks.on_step(step_metrics(step))
    return productive


def test_a_run_without_interruption_is_effective_but_for_its_saves(tmp_path: Path, clock: Clock) -> None:
    assert process(tmp_path / "log", clock, 0, range(1, 11)).ratio == pytest.approx(PRODUCTIVE / 0.25)


def test_repeated_steps_and_pauses_are_not_productive(tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "log"
    process(log, clock, 0, range(1, 9))
    clock.now += 3.0
    resumed = process(log, clock, 5, range(6, 11))

    assert resumed.seconds == pytest.approx(10 * PRODUCTIVE)
    # Ten steps that the run kept, three that were repeated, and the pause.
    assert resumed.ratio == pytest.approx(10 * PRODUCTIVE / (13 * 0.25 + 3.0))
    steps = [event for event in map(json.loads, log.read_text().splitlines()) if event["event"] == "step"]
    assert [event["first_start"] for event in steps] == [1000.0] * 13


def test_a_run_that_starts_again_from_its_first_step_has_kept_nothing(tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "log"
    process(log, clock, 0, range(1, 5))
    again = process(log, clock, 0, range(1, 5))

    assert again.ratio == pytest.approx(PRODUCTIVE / 0.25 / 2)


def test_a_run_that_resumes_from_a_step_without_a_line_keeps_those_before_it(tmp_path: Path, clock: Clock) -> None:
    # A replica that loses its peers saves a step that rank 0 did not log.
    log = tmp_path / "log"
    process(log, clock, 0, range(1, 9))

    assert process(log, clock, 9, []).seconds == pytest.approx(8 * PRODUCTIVE)


@pytest.mark.parametrize(
    "line", ['{"time": 1.0, "event": "step", "step": 7, "loss": 0.5}', '{"time": 1.0, "event": "step", "step": 7, "lo']
)
def test_a_log_of_an_older_trainer_or_a_torn_one_starts_the_count(line: str, tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "log"
    log.write_text(f"{line}\n")
    resumed = process(log, clock, 7, [8])

    assert resumed.seconds == pytest.approx(PRODUCTIVE)
    assert resumed.first_start == 1000.0
