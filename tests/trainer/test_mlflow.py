"""Parameters and metrics in MLflow: a folder, and servers that are down, slow or refuse."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from mlflow.entities import Run
from mlflow.tracking import MlflowClient

from tests.harness.trainer.launch import wait_until
from tests.trainer.step_metrics import GPU_REPORTS, STEPS, new_throughput, run_start, step_metrics
from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.metrics.base import EpochMetrics, EvaluationMetrics, Score
from trainer.metrics.mlflow import RUN_FILE, MLflow
from trainer.run import train
from trainer.runtime.distributed import World

EVALUATION = EvaluationMetrics(step=2, score=Score(loss=0.5, accuracy=0.875), seconds=1.0)
EPOCH = EpochMetrics(epoch=1, step=3, loss=0.25, score=EVALUATION.score, seconds=1.0, samples_per_second=128.0)
# Metrics of `step_metrics`: the loss, the learning rate, the throughput, the MFU and seconds, also by part.
PER_STEP = 11
RUN = {"info": {"run_id": "a" * 32, "experiment_id": "1", "lifecycle_stage": "active", "status": "RUNNING"}}


class Server(ThreadingHTTPServer):
    """The part of MLflow's REST API that the sink uses. Responds with `status` to everything if it is an error."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.error = "INTERNAL_ERROR"
        self.refused = 0
        self.steps: list[int] = []

    @property
    def uri(self) -> str:
        """The URI of the server."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Server

    def do_GET(self) -> None:
        """Answers a query."""
        self._answer(self.server.status, {"run": RUN, "experiment": {"experiment_id": "1", "name": "trainer"}})

    def do_POST(self) -> None:
        """Receives a change."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.server.status
        if status == 200:
            self.server.steps += [int(metric["step"]) for metric in body.get("metrics", ()) if metric["key"] == "mfu"]
        self._answer(status, {"run": RUN, "run_info": RUN["info"]})

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        error = {"error_code": self.server.error, "message": "not today"}
        body = json.dumps(content if status == 200 else error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.refused += status != 200

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()


@pytest.fixture
def config(tmp_path: Path) -> TrainerConfig:
    """A run that logs to a folder."""
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    return TrainerConfig(checkpoint_dir=checkpoints, mlflow_uri=str(tmp_path / "mlflow"), mlflow_run="digits")


def sink_of(config: TrainerConfig, world_size: int = 2) -> MLflow:
    """Returns a sink whose throughput is known."""
    known = new_throughput(peak_flops=1e9)
    known.on_start(run_start())
    known.on_step(step_metrics(1))
    return MLflow(config, world_size, known, every_seconds=0.01)


def the_run(config: TrainerConfig) -> Run:
    """Returns the only run in the experiment."""
    client = MlflowClient(tracking_uri=config.mlflow_uri)
    (run,) = client.search_runs([client.get_experiment_by_name(config.mlflow_experiment).experiment_id])
    return run


def history(config: TrainerConfig, name: str) -> list[tuple[int, float]]:
    """Returns the steps and values of a metric."""
    client = MlflowClient(tracking_uri=config.mlflow_uri)
    return [(point.step, point.value) for point in client.get_metric_history(the_run(config).info.run_id, name)]


def test_a_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch, config: TrainerConfig) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.entities", None)

    with pytest.raises(ConfigError, match="--mlflow-uri needs the package mlflow-skinny: pip install it"):
        sink_of(config)


@pytest.mark.parametrize(
    ("uri", "advice"),
    [
        ("mlflow:5000", "does not accept --mlflow-uri mlflow:5000: write http://HOST:PORT, or a folder"),
        ("http://me:secret@mlflow", "must not hold a password.*MLFLOW_TRACKING_PASSWORD"),
    ],
)
def test_a_uri_that_does_not_work_is_reported(config: TrainerConfig, uri: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        sink_of(replace(config, mlflow_uri=uri))


def test_parameters_and_metrics_are_logged_by_step(config: TrainerConfig) -> None:
    sink = sink_of(config)
    sink.on_start(run_start())
    for step in (1, 2, 3):
        sink.on_step(step_metrics(step, loss=float(step), reports=GPU_REPORTS))
    sink.on_evaluation(EVALUATION)
    sink.on_epoch_end(EPOCH)
    sink.close()

    run = the_run(config)
    assert run.info.run_name == "digits"
    # It has taken 3 of its steps.
    assert run.info.status == "KILLED"
    assert run.data.params["learning_rate"] == str(config.learning_rate)
    assert run.data.params["dump_dir"] == '""'
    assert run.data.params["world_size"] == "2"
    assert history(config, "loss/step") == [(1, 1), (2, 2), (3, 3)]
    assert history(config, "loss/test") == [(2, 0.5)]
    assert history(config, "test_accuracy") == [(2, 0.875)]
    assert history(config, "loss/epoch") == [(3, 0.25)]
    assert history(config, "gpu_memory/peak_bytes")[0] == (1, 3 << 30)
    assert {"learning_rate", "samples_per_second", "seconds/backward"} <= set(run.data.metrics)
    # The norm of gradients that are not clipped is unknown.
    assert "gradient_norm" not in run.data.metrics


def test_a_resumed_run_continues_the_mlflow_run_with_its_new_fields_as_tags(
    alone: World, config: TrainerConfig
) -> None:
    short = replace(config, epochs=1, batch_size=500)
    assert train(short, alone) == 0
    first = the_run(config)
    # This process still holds the lock of the first directory.
    copied = shutil.copytree(config.checkpoint_dir, config.checkpoint_dir.with_name("copied"))
    assert train(replace(short, epochs=2, checkpoint_dir=copied), alone) == 0

    second = the_run(config)
    assert (first.info.run_id, first.info.status) == (second.info.run_id, second.info.status)
    assert second.info.status == "FINISHED"
    assert second.data.params["epochs"] == "1"
    assert second.data.tags["epochs"] == "2"
    assert [step for step, _ in history(config, "loss/step")] == [1, 2, 3, 4, 5, 6]


def test_a_deleted_mlflow_run_is_replaced(config: TrainerConfig) -> None:
    for deleted in (True, False):
        sink = sink_of(config)
        sink.on_start(run_start())
        sink.close()
        if deleted:
            MlflowClient(tracking_uri=config.mlflow_uri).delete_run(the_run(config).info.run_id)

    recorded = json.loads((config.checkpoint_dir / RUN_FILE).read_text())
    assert recorded == {"run_id": the_run(config).info.run_id}


def test_a_checkpoint_directory_that_cannot_be_written_costs_one_mlflow_run(
    config: TrainerConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    # A folder in the place of the file that the sink writes.
    obstacle = (config.checkpoint_dir / RUN_FILE).with_suffix(".tmp")
    obstacle.mkdir()
    sink = sink_of(config)
    sink.on_start(run_start())
    wait_until(lambda: "will retry" in capsys.readouterr().err)
    obstacle.rmdir()
    sink.on_step(step_metrics(1))
    sink.close()

    assert [step for step, _ in history(config, "loss/step")] == [1]


def test_a_server_that_is_down_costs_one_line_and_no_step(
    config: TrainerConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    sink = sink_of(replace(config, mlflow_uri=f"http://127.0.0.1:{port}"))
    sink.on_start(run_start())
    for step in range(1, STEPS + 1):
        sink.on_step(step_metrics(step))
    sink.close()

    warning, lost = capsys.readouterr().err.splitlines()
    assert "cannot log to MLflow, will retry: " in warning
    assert "Connection refused" in warning
    assert f"{PER_STEP * STEPS} metrics are not in MLflow" in lost


def test_training_does_not_wait_for_a_server_that_never_responds(
    config: TrainerConfig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    # The kernel accepts the connection.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sink = sink_of(replace(config, mlflow_uri=f"http://127.0.0.1:{silent.getsockname()[1]}"))
        sink.on_start(run_start())
        for step in range(1, STEPS + 1):
            sink.on_step(step_metrics(step))
        assert capsys.readouterr().err == ""
        sink.close()

    assert capsys.readouterr().err.count("\n") == 2


def test_metrics_wait_until_the_server_responds_again(
    server: Server, config: TrainerConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    server.status = 503
    sink = sink_of(replace(config, mlflow_uri=server.uri))
    sink.on_start(run_start())
    for step in range(1, STEPS + 1):
        sink.on_step(step_metrics(step))
    wait_until(lambda: server.refused > 2)
    server.status = 200
    sink.close()

    printed = capsys.readouterr()
    assert server.steps == list(range(1, STEPS + 1))
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_metrics_that_the_server_refuses_do_not_stop_later_ones(
    server: Server, config: TrainerConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    sink = sink_of(replace(config, mlflow_uri=server.uri))
    sink.on_start(run_start())
    sink.on_step(step_metrics(1))
    wait_until(lambda: server.steps == [1])
    server.status, server.error = 400, "INVALID_PARAMETER_VALUE"
    sink.on_step(step_metrics(2))
    wait_until(lambda: server.refused)
    server.status = 200
    sink.on_step(step_metrics(3))
    sink.close()

    assert server.steps == [1, 3]
    assert f"{PER_STEP} metrics are not in MLflow" in capsys.readouterr().err
