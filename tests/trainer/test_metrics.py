"""Prometheus metrics of a run."""

from __future__ import annotations

import re
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import PROCESS_COLLECTOR, REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from tests.harness.jobs import promql
from tests.harness.ports import free_port
from tests.harness.trainer.launch import Started, start
from tests.trainer.step_metrics import GPU_REPORTS, SAMPLES, new_throughput, run_start, step_metrics
from trainer.checkpoint.metrics import CheckpointMetrics
from trainer.metrics.exporter import Exporter
from trainer.metrics.straggler import Stragglers
from trainer.runtime.step_sync import StepReport

# Metrics of models that read tokens.
OF_TOKENS = {"trainer_tokens_total", "trainer_tokens_per_second"}
PARTS = {"data", "forward", "backward", "communication", "update", "checkpoint"}


def scrape(port: int) -> dict[str, float]:
    """Returns the trainer's series by name and label values; empty if nothing responds."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except (urllib.error.URLError, OSError):
        return {}
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for sample in samples
        if sample.name.startswith("trainer_")
    }


def scrape_after_epoch(run: Started, port: int, epoch: int) -> dict[str, float]:
    """Returns the metrics once this epoch is done."""

    def scraped() -> dict[str, float]:
        found = scrape(port)
        return found if found.get("trainer_epoch", 0) >= epoch else {}

    return run.wait_for(scraped)


def metrics(series: dict[str, float]) -> set[str]:
    """Returns the metric names as documented: a histogram is one metric."""
    return {re.sub(r"_(bucket|count|sum)$", "", name.split()[0]) for name in series}


def test_one_process_per_node_serves_the_metrics_of_the_whole_run(tmp_path: Path) -> None:
    port = free_port()
    before = time.time()
    flags = ("--epochs=1000", f"--metrics-port={port}", "--peak-tflops=0.001", f"--events-file={tmp_path}/events")
    run = start(tmp_path, *flags, processes=2)
    try:
        early = scrape_after_epoch(run, port, 1)
        late = scrape_after_epoch(run, port, int(early["trainer_epoch"]) + 3)
    finally:
        run.stop()

    assert metrics(late) == promql.exporters()["trainer"] - OF_TOKENS
    assert late["trainer_epochs"] == 1000
    assert late["trainer_steps"] == 45_000
    assert 0 <= late["trainer_step"] - 45 * late["trainer_epoch"] <= 45
    assert late["trainer_step_seconds_count"] == late["trainer_step"]
    assert late["trainer_loss"] < early["trainer_loss"]
    assert 0.5 < late["trainer_test_accuracy"] <= 1
    # An epoch is 1437 samples, over both ranks.
    assert late["trainer_samples_total"] >= 1437 * late["trainer_epoch"]
    assert before < early["trainer_checkpoint_timestamp_seconds"] < late["trainer_checkpoint_timestamp_seconds"]
    assert late["trainer_saves_total saved"] >= 1
    assert late["trainer_saves_total failed"] == 0
    assert late["trainer_save_seconds_total"] > 0
    assert max(late["trainer_straggler_score 0"], late["trainer_straggler_score 1"]) == 1
    assert late["trainer_peak_flops"] == 2e9
    assert late["trainer_mfu"] > 0
    assert before < late["trainer_first_start_timestamp_seconds"] == early["trainer_first_start_timestamp_seconds"]
    assert 0 < late["trainer_productive_seconds"] < late["trainer_step_seconds_sum"]
    spent = {name.split()[1]: value for name, value in late.items() if name.startswith("trainer_part_seconds_total")}
    assert set(spent) == PARTS
    assert 0 < sum(spent.values()) < late["trainer_step_seconds_sum"]


def test_the_client_library_serves_the_metrics_of_the_process() -> None:
    served = {sample.name for family in PROCESS_COLLECTOR.collect() for sample in family.samples}

    assert served == promql.exporters()["python-client"]


def test_a_metrics_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104 - the address of the trainer's server
        port = taken.getsockname()[1]
        finished = start(tmp_path, f"--metrics-port={port}").finish()

    assert finished.returncode == 2
    assert finished.errors == [
        f"trainer: error: cannot serve --metrics-port {port} (Address already in use): write another port"
    ]


def value(name: str, **labels: str) -> float | None:
    """Returns a value that this process would serve."""
    found: float | None = REGISTRY.get_sample_value(name, labels)
    return found


def test_a_token_model_has_token_metrics_and_no_mfu_without_a_peak() -> None:
    tokens = new_throughput(tokens_per_sample=64)
    exporter = Exporter(0, tokens, Stragglers(), CheckpointMetrics())
    for sink in (tokens, exporter):
        sink.on_start(run_start())
        sink.on_step(step_metrics(1, seconds=0.25))

    assert value("trainer_tokens_total") == 64 * SAMPLES
    assert value("trainer_tokens_per_second") == pytest.approx(64 * SAMPLES / 0.25)
    assert value("trainer_mfu") is None
    assert value("trainer_peak_flops") is None


def test_scores_and_parts_are_those_of_the_ranks() -> None:
    quick, slow = StepReport(data_seconds=1.0, forward_seconds=1.0), StepReport(data_seconds=7.0, forward_seconds=1.0)
    stragglers = Stragglers()
    before = value("trainer_part_seconds_total", part="data") or 0.0
    exporter = Exporter(1, new_throughput(), stragglers, CheckpointMetrics())
    for sink in (stragglers, exporter):
        sink.on_step(step_metrics(1, reports=[quick, slow]))

    assert value("trainer_straggler_score", rank="0") == 1
    assert value("trainer_straggler_score", rank="1") == 0.25
    assert value("trainer_part_seconds_total", part="data") == pytest.approx(before + 7.0)


def test_gpu_memory_is_that_of_the_gpu_with_most() -> None:
    exporter = Exporter(0, new_throughput(), Stragglers(), CheckpointMetrics())
    exporter.on_step(step_metrics(1))
    assert value("trainer_gpu_peak_bytes") is None
    exporter.on_step(step_metrics(2, reports=GPU_REPORTS))
    assert value("trainer_gpu_peak_bytes") == 3 << 30
    assert value("trainer_gpu_reserved_bytes") == 4 << 30


def test_each_save_is_counted_once_even_one_that_ends_after_the_last_step() -> None:
    saves = CheckpointMetrics()
    exporter = Exporter(0, new_throughput(), Stragglers(), saves)
    before = {result: value("trainer_saves_total", result=result) or 0.0 for result in ("saved", "failed")}
    saves.saved, saves.newest_time = 1, 1000.0
    exporter.on_step(step_metrics(1))
    exporter.on_step(step_metrics(2))
    saves.saved, saves.failed, saves.newest_time = 2, 1, 2000.0
    exporter.close()

    assert value("trainer_saves_total", result="saved") == before["saved"] + 2
    assert value("trainer_saves_total", result="failed") == before["failed"] + 1
    assert value("trainer_checkpoint_timestamp_seconds") == 2000.0


def test_emergency_saves_are_reported_by_the_process_that_resumes_from_them() -> None:
    Exporter(0, new_throughput(), Stragglers(), CheckpointMetrics()).on_start(run_start(step=7, emergency_saves=3))

    assert value("trainer_emergency_saves") == 3
    assert value("trainer_step") == 7
