"""Reports of a run: events, progress lines and bar, profile, TensorBoard; and sinks that fail."""

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

from tests.harness.trainer.launch import Finished, start
from tests.trainer.step_metrics import GPU_REPORTS, STEPS, new_throughput, run_start, step_metrics
from trainer.checkpoint.metrics import CheckpointMetrics
from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.metrics.base import Sink, StepMetrics
from trainer.metrics.console import ProgressBar, ProgressLines, build_console_sink, describe_step, format_duration
from trainer.metrics.events import Events
from trainer.metrics.productive import ProductiveTime
from trainer.metrics.profiler import Profiler
from trainer.metrics.sinks import SinkGroup
from trainer.metrics.tensorboard import TensorBoard

Event = dict[str, Any]


def read(path: Path) -> list[Event]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def events_of(path: Path) -> Events:
    return Events(path, CheckpointMetrics(), ProductiveTime(path))


@dataclass(frozen=True)
class Watched:
    """A run that was profiled while running and then terminated."""

    finished: Finished
    events: list[Event]
    traces: list[Path]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    events, traces = folder / "events" / "run.jsonl", folder / "traces"
    flags = (f"--events-file={events}", f"--profile-dir={traces}", "--profile-steps=2", "--log-steps=1")
    run = start(folder / "checkpoints", "--epochs=10000", *flags)
    try:
        run.wait_for(lambda: events.exists() and b'"event": "epoch"' in events.read_bytes())
        run.process.send_signal(signal.SIGUSR1)
        run.wait_for(lambda: traces.exists() and list(traces.iterdir()))
        # A second request writes a second profile.
        run.process.send_signal(signal.SIGUSR1)
        run.wait_for(lambda: len(list(traces.iterdir())) == 2)
        # A slow disk may still be writing the first checkpoint.
        run.wait_for(lambda: b'"event": "saved"' in events.read_bytes())
    except BaseException:
        run.stop()
        raise
    run.process.terminate()
    return Watched(run.finish(), read(events), sorted(traces.iterdir()))


def test_every_step_is_an_event_with_exact_metrics(watched: Watched) -> None:
    steps = [event for event in watched.events if event["event"] == "step"]

    assert watched.events[0]["event"] == "started"
    assert [event["step"] for event in steps] == list(range(1, len(steps) + 1))
    assert [event["position"] for event in steps[:44]] == [*range(32, 44 * 32 + 1, 32)]
    assert all(event["learning_rate"] == 0.002 and event["gradient_norm"] > 0 for event in steps)
    assert all(sum(event["parts"].values()) < event["seconds"] for event in steps)
    # The mean over the samples of an epoch, summed in the same order as in the run.
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


def test_progress_lines_are_logged_on_request(watched: Watched) -> None:
    (second,) = (line for line in watched.finished.lines if line.startswith("step=2/450000 "))

    assert [word.partition("=")[0] for word in second.split()] == ["step", "loss", "samples_per_second", "eta", "ettr"]


def test_sigusr1_writes_a_profile_and_sigterm_still_works(watched: Watched) -> None:
    assert watched.finished.returncode == 128 + signal.SIGTERM
    assert len(watched.traces) == 2
    for path in watched.traces:
        with gzip.open(path) as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        assert "aten::addmm" in names


def test_a_resumed_run_appends_to_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for step in (0, 7):
        events = events_of(path)
        events.on_start(run_start(step))
        events.close()

    assert [(event["event"], event["step"]) for event in read(path)] == [
        ("started", 0),
        ("ended", 0),
        ("started", 7),
        ("ended", 7),
    ]


@pytest.mark.parametrize("left", [b'{"time": 1.0, "event": "st', b'{"event": "ended"}\n', b""])
def test_events_begin_on_a_line_of_their_own_after_one_that_was_cut_off(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(left)
    events_of(path).on_start(run_start(7))
    *before, started = path.read_bytes().splitlines()
    assert before == ([left.rstrip()] if left else [])
    assert json.loads(started)["event"] == "started"


@pytest.mark.parametrize("loss", [0.1 + 0.2, 1 / 3, 5e-324, 2.2250738585072014e-308])
def test_a_loss_reads_back_to_the_last_bit(loss: float, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    events_of(path).on_step(step_metrics(1, loss=loss))

    assert read(path)[0]["loss"].hex() == loss.hex()


def test_gpu_memory_is_in_the_events_and_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    events = events_of(path)
    for reports in ((), GPU_REPORTS):
        events.on_step(step_metrics(1, reports=reports))

    without, with_gpus = read(path)
    assert "gpu_peak_bytes" not in without
    assert (with_gpus["gpu_peak_bytes"], with_gpus["gpu_reserved_bytes"]) == (3 << 30, 4 << 30)
    shown = describe_step(step_metrics(1, reports=GPU_REPORTS), new_throughput())
    assert shown == "loss=0.5000 gpu_peak_gib=3.00 gpu_reserved_gib=4.00"


def test_an_events_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot write --events-file .* \(Is a directory\): write another path"):
        events_of(tmp_path)


class Failing(Sink):
    """Counts its calls, and fails each time."""

    calls = 0

    def on_step(self, metrics: StepMetrics) -> None:
        """Counts and fails."""
        self.calls += bool(metrics)
        raise OSError("no space left")


def test_a_failing_sink_is_reported_once_and_does_not_end_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing, path = Failing(), tmp_path / "run.jsonl"
    sinks = SinkGroup([failing, events_of(path)])
    sinks.on_start(run_start())
    sinks.on_step(step_metrics(1))
    sinks.on_step(step_metrics(2))
    sinks.close()

    assert failing.calls == 1
    assert capsys.readouterr().err == "trainer: rank 0: Failing failed and is disabled: OSError: no space left\n"
    assert [event["event"] for event in read(path)] == ["started", "step", "step", "ended"]


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Returns true."""
        return True


def test_a_terminal_shows_a_bar_and_the_log_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    known = new_throughput()
    bar = build_console_sink(TrainerConfig(log_steps=1), known)
    assert isinstance(bar, ProgressBar)
    bar.on_start(run_start())
    known.on_start(run_start())
    known.on_step(step_metrics(50))
    bar.on_step(step_metrics(50, loss=0.125))
    print("epoch=1/2")
    bar.close()

    shown = terminal.getvalue()
    assert f"50/{STEPS}" in shown
    assert "loss=0.1250 samples_per_second=128 eta=0:00:38" in shown
    assert "epoch=1/2" in shown


def test_without_rich_or_a_terminal_progress_lines_are_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    assert build_console_sink(TrainerConfig(), new_throughput()) is None
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr("trainer.metrics.console.find_spec", lambda _: None)

    assert isinstance(build_console_sink(TrainerConfig(log_steps=1), new_throughput()), ProgressLines)


def test_remaining_time_is_formatted_as_hours_minutes_and_seconds() -> None:
    assert format_duration(3723.4) == "1:02:03"
    assert format_duration(59.6) == "0:01:00"


def test_a_profile_that_is_incomplete_at_the_end_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handler, trace = signal.getsignal(signal.SIGUSR1), Mock()
    # Starting the real profiler takes seconds.
    monkeypatch.setattr("trainer.metrics.profiler.profile", trace)
    try:
        profiler = Profiler(tmp_path, steps=5, rank=3)
        os.kill(os.getpid(), signal.SIGUSR1)
        profiler.on_step(step_metrics(1))
        profiler.close()
    finally:
        signal.signal(signal.SIGUSR1, handler)

    trace().stop.assert_called_once_with()
    trace().export_chrome_trace.assert_not_called()


def test_missing_tensorboard_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    with pytest.raises(ConfigError, match="--tensorboard-dir needs the package tensorboard: pip install it"):
        TensorBoard(tmp_path, new_throughput())


def test_tensorboard_has_scalars_by_step_that_a_resumed_run_continues(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for begin, steps in ((0, (1, 2, 3)), (2, (3, 4))):
        known = new_throughput()
        curves = TensorBoard(tmp_path, known)
        for sink in (known, curves):
            sink.on_start(run_start(begin))
        for step in steps:
            known.on_step(step_metrics(step))
            curves.on_step(step_metrics(step, loss=10.0 * begin + step, reports=GPU_REPORTS))
        curves.close()
    read = accumulator.EventAccumulator(str(tmp_path))
    read.Reload()

    assert [(point.step, point.value) for point in read.Scalars("loss/step")] == [(1, 1), (2, 2), (3, 23), (4, 24)]
    assert {"samples_per_second", "learning_rate", "seconds/backward"} <= set(read.Tags()["scalars"])
    assert [point.value for point in read.Scalars("gpu_memory/peak_bytes")] == [3 << 30] * 4
    # The norm of gradients that are not clipped is unknown.
    assert "gradient_norm" not in read.Tags()["scalars"]
