"""What a run writes about itself: events, lines of progress, a profile; and sinks that fail."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from trainer.checkpoint.figures import Figures as Saves
from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.metrics.console import Bar, Lines, clock, console
from trainer.metrics.events import Events
from trainer.metrics.figures import Sink, StepFigures
from trainer.metrics.profiler import Profiler
from trainer.metrics.sinks import Sinks
from trainer.metrics.tensorboard import TensorBoard

from .launch import Finished
from .launch import start as launch
from .steps import STEPS, figures, pace, start

Event = dict[str, Any]


def read(path: Path) -> list[Event]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass(frozen=True)
class Watched:
    """A run that was profiled under way and then told to stop."""

    finished: Finished
    events: list[Event]
    traces: list[Path]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    events, traces = folder / "events" / "run.jsonl", folder / "traces"
    flags = (f"--events-file={events}", f"--profile-dir={traces}", "--profile-steps=2", "--log-steps=1")
    run = launch(folder / "checkpoints", "--epochs=10000", *flags)
    try:
        run.wait_for(lambda: events.exists() and b'"event": "epoch"' in events.read_bytes())
        run.process.send_signal(signal.SIGUSR1)
        run.wait_for(lambda: traces.exists() and list(traces.iterdir()))
        # What is asked for twice is done twice.
        run.process.send_signal(signal.SIGUSR1)
        run.wait_for(lambda: len(list(traces.iterdir())) == 2)
    except BaseException:
        run.stop()
        raise
    run.process.terminate()
    return Watched(run.finish(), read(events), sorted(traces.iterdir()))


def test_every_step_is_an_event_with_its_exact_figures(watched: Watched) -> None:
    steps = [event for event in watched.events if event["event"] == "step"]

    assert watched.events[0]["event"] == "started"
    assert [event["step"] for event in steps] == list(range(1, len(steps) + 1))
    assert [event["position"] for event in steps[:44]] == [*range(32, 44 * 32 + 1, 32)]
    assert all(event["learning_rate"] == 0.002 and event["gradient_norm"] is None for event in steps)
    assert all(sum(event["parts"].values()) < event["seconds"] for event in steps)
    # The mean of an epoch's samples to the last bit, added up as the run does.
    total = 0.0
    for event in steps[:45]:
        total += event["loss"] * event["samples"]
    (epoch,) = (event for event in watched.events if event["event"] == "epoch" and event["epoch"] == 1)
    assert math.isclose(epoch["loss"], total / steps[44]["position"], rel_tol=1e-12)


def test_saves_and_the_end_are_events(watched: Watched) -> None:
    *_, saved, ended = watched.events

    assert next(event["saved_step"] for event in watched.events if event["event"] == "saved") == 45
    assert saved["event"] == "saved"
    assert saved["saved_step"] == ended["step"]
    assert ended["event"] == "ended"


def test_lines_of_progress_are_written_when_asked_for(watched: Watched) -> None:
    (second,) = (line for line in watched.finished.lines if line.startswith("step=2/450000 "))

    assert [word.partition("=")[0] for word in second.split()] == ["step", "loss", "samples_per_second", "eta"]


def test_a_profile_of_the_next_steps_is_written_on_sigusr1_which_leaves_sigterm_alone(watched: Watched) -> None:
    assert watched.finished.returncode == 128 + signal.SIGTERM
    assert len(watched.traces) == 2
    for path in watched.traces:
        with gzip.open(path) as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        assert "aten::addmm" in names


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for step in (0, 7):
        events = Events(path, Saves())
        events.started(start(step))
        events.close()

    assert [(event["event"], event["step"]) for event in read(path)] == [
        ("started", 0),
        ("ended", 0),
        ("started", 7),
        ("ended", 7),
    ]


@pytest.mark.parametrize("loss", [0.1 + 0.2, 1 / 3, 5e-324, 2.2250738585072014e-308])
def test_a_loss_reads_back_to_the_last_bit(loss: float, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Events(path, Saves()).stepped(figures(1, loss=loss))

    assert read(path)[0]["loss"].hex() == loss.hex()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--events-file .* cannot be written \(Is a directory\): write another"):
        Events(tmp_path, Saves())


class Failing(Sink):
    """Counts what it is told, and fails each time."""

    told = 0

    def stepped(self, figures: StepFigures) -> None:
        """Counts and fails."""
        self.told += bool(figures)
        raise OSError("no space left")


def test_a_sink_that_fails_is_named_once_and_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing, path = Failing(), tmp_path / "run.jsonl"
    sinks = Sinks([failing, Events(path, Saves())])
    sinks.started(start())
    sinks.stepped(figures(1))
    sinks.stepped(figures(2))
    sinks.close()

    assert failing.told == 1
    assert (
        capsys.readouterr().err
        == "trainer: rank 0: Failing fails and is left out from now on: OSError: no space left\n"
    )
    assert [event["event"] for event in read(path)] == ["started", "step", "step", "ended"]


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        """It says so."""
        return True


def test_a_terminal_shows_a_bar_and_the_log_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    known = pace()
    bar = console(TrainerConfig(log_steps=1), known)
    assert isinstance(bar, Bar)
    bar.started(start())
    known.started(start())
    known.stepped(figures(50))
    bar.stepped(figures(50, loss=0.125))
    print("epoch=1/2")
    bar.close()

    shown = terminal.getvalue()
    assert f"50/{STEPS}" in shown
    assert "loss=0.1250 samples_per_second=128 eta=0:00:38" in shown
    assert "epoch=1/2" in shown


def test_without_rich_or_a_terminal_there_are_lines_if_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert console(TrainerConfig(), pace()) is None
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr("trainer.metrics.console.find_spec", lambda _: None)

    assert isinstance(console(TrainerConfig(log_steps=1), pace()), Lines)


def test_remaining_time_is_in_hours_minutes_and_seconds() -> None:
    assert clock(3723.4) == "1:02:03"
    assert clock(59.6) == "0:01:00"


def test_a_profile_that_a_run_ends_in_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handler, trace = signal.getsignal(signal.SIGUSR1), Mock()
    # The real one takes seconds to begin with.
    monkeypatch.setattr("trainer.metrics.profiler.profile", trace)
    try:
        profiler = Profiler(tmp_path, steps=5, rank=3)
        os.kill(os.getpid(), signal.SIGUSR1)
        profiler.stepped(figures(1))
        profiler.close()
    finally:
        signal.signal(signal.SIGUSR1, handler)

    trace().stop.assert_called_once_with()
    trace().export_chrome_trace.assert_not_called()


def test_tensorboard_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    with pytest.raises(ConfigError, match="--tensorboard-dir needs a package that is not there: pip install"):
        TensorBoard(tmp_path, pace())


def test_tensorboard_has_curves_by_step_that_a_resumed_run_takes_up(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for begin, steps in ((0, (1, 2, 3)), (2, (3, 4))):
        known = pace()
        curves = TensorBoard(tmp_path, known)
        for sink in (known, curves):
            sink.started(start(begin))
        for step in steps:
            known.stepped(figures(step))
            curves.stepped(figures(step, loss=10.0 * begin + step))
        curves.close()
    read = accumulator.EventAccumulator(str(tmp_path))
    read.Reload()

    assert [(point.step, point.value) for point in read.Scalars("loss/step")] == [(1, 1), (2, 2), (3, 23), (4, 24)]
    assert {"samples_per_second", "learning_rate", "seconds/backward"} <= set(read.Tags()["scalars"])
    # Of gradients that are not clipped nobody knows the norm.
    assert "gradient_norm" not in read.Tags()["scalars"]
