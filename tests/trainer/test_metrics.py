"""What a run tells Prometheus."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.jobs import promql

from .launch import TIMEOUT_SECONDS, Started, start


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def scrape(port: int) -> dict[str, float]:
    """The trainer's own metrics; none while nothing answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except (urllib.error.URLError, OSError):
        return {}
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {sample.name: sample.value for sample in samples if sample.name.startswith("trainer_")}


def scrape_after_epoch(run: Started, port: int, epoch: int) -> dict[str, float]:
    """The metrics once this epoch is done."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (found := scrape(port)).get("trainer_epoch", 0) < epoch:
        assert run.process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_one_process_of_a_node_serves_the_figures_of_the_whole_run(tmp_path: Path) -> None:
    port = free_port()
    before = time.time()
    run = start(tmp_path, "--epochs=1000", f"--metrics-port={port}", processes=2)
    try:
        early = scrape_after_epoch(run, port, 1)
        late = scrape_after_epoch(run, port, int(early["trainer_epoch"]) + 3)
    finally:
        run.stop()

    assert set(late) == promql.exporters()["trainer"]
    assert late["trainer_epochs"] == 1000
    assert late["trainer_loss"] < early["trainer_loss"]
    assert 0.5 < late["trainer_test_accuracy"] <= 1
    # An epoch is 1437 samples, over both ranks.
    assert late["trainer_samples_total"] >= 1437 * late["trainer_epoch"]
    assert before < early["trainer_checkpoint_timestamp_seconds"] < late["trainer_checkpoint_timestamp_seconds"]


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104 - where the trainer serves
        port = taken.getsockname()[1]
        finished = start(tmp_path, f"--metrics-port={port}").finish()

    assert finished.returncode == 2
    assert finished.errors == [
        f"trainer: error: --metrics-port {port} cannot be served (Address already in use): write another port"
    ]
