"""The status reported to Kubeflow Trainer, received by a real HTTP server."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.step_metrics import STEPS, new_throughput, run_start, step_metrics
from trainer.metrics.base import EpochMetrics, EvaluationMetrics, Score
from trainer.metrics.kubeflow import CA_FILE, TOKEN_FILE, URL, KubeflowStatus

PATH = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/run/status"
EVALUATION = EvaluationMetrics(step=100, score=Score(loss=0.5, accuracy=0.875), seconds=1.0)
EPOCH = EpochMetrics(epoch=1, step=100, loss=0.25, score=EVALUATION.score, seconds=1.0, samples_per_second=128.0)


class Server(ThreadingHTTPServer):
    """Records the posted statuses, and responds with `status` once `opened`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.opened = threading.Event()
        self.opened.set()
        self.got: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    def url(self, scheme: str) -> str:
        """Returns the URL to post to."""
        return f"{scheme}://127.0.0.1:{self.server_port}{PATH}"


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Server

    def do_POST(self) -> None:
        """Receives a status."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.opened.wait()
        self.server.got.append((self.path, dict(self.headers), body["trainerStatus"]))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@contextmanager
def running(prepare: Callable[[Server], None] = lambda _: None) -> Iterator[Server]:
    server = Server()
    prepare(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.opened.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as found:
        yield found


def status_of(server: Server) -> KubeflowStatus:
    known = new_throughput()
    known.on_start(run_start())
    known.on_step(step_metrics(50))
    return KubeflowStatus(server.url("http"), known, every_seconds=0.01)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 and its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    path = tmp_path / "server.pem"
    made = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    name = "-subj /CN=status -addext subjectAltName=IP:127.0.0.1"
    command = ["openssl", "req", *made.split(), *name.split(), "-keyout", str(path), "-out", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def test_the_operator_gets_the_status_with_the_pods_token_over_tls(certificate: Path, tmp_path: Path) -> None:
    def encrypt(server: Server) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)

    token = tmp_path / "token"
    token.write_text("projected\n")
    with running(encrypt) as server:
        environment = {URL: server.url("https"), CA_FILE: str(certificate), TOKEN_FILE: str(token)}
        status = KubeflowStatus.from_environment(new_throughput(), environment)
        assert status is not None
        status.on_start(run_start())
        status.close()

    (path, headers, sent) = server.got[-1]
    assert path == PATH
    assert headers["Authorization"] == "Bearer projected"
    assert headers["Content-Type"] == "application/json"
    assert sent["progressPercentage"] == 0


def test_outside_of_a_trainjob_there_is_no_status() -> None:
    assert KubeflowStatus.from_environment(new_throughput(), {}) is None


def test_progress_remaining_time_and_metrics_are_posted(server: Server) -> None:
    status = status_of(server)
    status.on_start(run_start())
    status.on_step(step_metrics(50, loss=0.123456789))
    status.on_evaluation(EVALUATION)
    status.on_epoch_end(EPOCH)
    status.close()

    sent = server.got[-1][2]
    metrics = {metric["name"]: metric["value"] for metric in sent["metrics"]}
    assert sent["progressPercentage"] == 50
    assert sent["estimatedRemainingSeconds"] == round((STEPS - 50) * 0.25)
    assert sent["lastUpdatedTime"].endswith("+00:00")
    assert metrics["loss"] == "0.123457"
    assert metrics["test_accuracy"] == "0.875"
    assert metrics["test_loss"] == "0.5"
    assert metrics["step"] == "50"


def test_training_does_not_wait_for_the_server_and_the_last_status_is_posted(server: Server) -> None:
    server.opened.clear()
    status = status_of(server)
    status.on_start(run_start())
    for step in range(1, STEPS + 1):
        status.on_step(step_metrics(step))
    # The server has not responded yet.
    assert server.got == []
    server.opened.set()
    status.close()

    assert server.got[-1][2]["progressPercentage"] == 100
    assert len(server.got) < 4


def test_a_server_error_is_logged_once_and_retried(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.status = 403
    status = status_of(server)
    status.on_start(run_start())
    while len(server.got) < 2:
        status.on_step(step_metrics(50))
    status.close()

    warnings = capsys.readouterr().err.splitlines()
    assert len(warnings) == 1
    assert "403" in warnings[0]
