"""The status of the run in its TrainJob, reported to Kubeflow Trainer.

Sources: https://github.com/kubeflow/trainer/tree/master/proposals/2779-trainjob-progress, and for the names, which
differ from the proposal, v2.2.0 and v2.3.0 pkg/runtime/framework/plugins/trainjobstatus/trainjobstatus.go.
"""

from __future__ import annotations

import json
import os
import ssl
import threading
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Self

from ..runtime.log import log_rank
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .throughput import Throughput

URL = "KUBEFLOW_TRAINER_SERVER_URL"
CA_FILE = "KUBEFLOW_TRAINER_SERVER_CA_CERT"
TOKEN_FILE = "KUBEFLOW_TRAINER_SERVER_TOKEN"  # noqa: S105 - the name of a variable

# The interval of Kubeflow's own SDK.
_EVERY_SECONDS = 5.0
_TIMEOUT_SECONDS = 5.0


class KubeflowStatus(Sink):
    """Posts the newest status from its own thread, so that training does not wait for the server.

    A failed post is skipped, with a warning the first time: the next post supersedes it.
    """

    def __init__(
        self,
        url: str,
        throughput: Throughput,
        *,
        ca_file: str | None = None,
        token_file: str | None = None,
        every_seconds: float = _EVERY_SECONDS,
    ) -> None:
        self._url = url
        self._throughput = throughput
        self._ca_file = ca_file
        self._token_file = token_file
        self._every_seconds = every_seconds
        self._metrics: dict[str, float] = {}
        self._steps = 1
        self._newest: dict[str, object] | None = None
        self._ended = threading.Event()
        self._has_warned = False
        self._thread = threading.Thread(target=self._post_all, name="kubeflow-status", daemon=True)

    @classmethod
    def from_environment(cls, throughput: Throughput, environment: Mapping[str, str] = os.environ) -> Self | None:
        """Returns a sink for the server that the operator names; None outside of a TrainJob."""
        if not (url := environment.get(URL)):
            return None
        return cls(url, throughput, ca_file=environment.get(CA_FILE), token_file=environment.get(TOKEN_FILE))

    def on_start(self, start: RunStart) -> None:
        """Starts posting."""
        self._steps = max(start.steps, 1)
        self._note(start.train_state.step)
        self._thread.start()

    def on_step(self, metrics: StepMetrics) -> None:
        """Updates the status with a step."""
        rates = {
            "samples_per_second": self._throughput.samples_per_second,
            "tokens_per_second": self._throughput.tokens_per_second,
        }
        known = {"step": metrics.train_state.step, "loss": metrics.loss, "mfu": self._throughput.mfu, **rates}
        self._metrics |= {name: value for name, value in known.items() if value is not None}
        self._note(metrics.train_state.step)

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Updates the status with an evaluation."""
        self._metrics |= {"test_loss": metrics.score.loss, "test_accuracy": metrics.score.accuracy}
        self._note(metrics.step)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Updates the status with an epoch."""
        self._metrics |= {"epoch": metrics.epoch, "epoch_loss": metrics.loss}
        self._note(metrics.step)

    def close(self) -> None:
        """Posts the last status, if the server responds in time."""
        self._ended.set()
        self._thread.join(2 * _TIMEOUT_SECONDS)

    def _note(self, step: int) -> None:
        seconds_left = self._throughput.seconds_left
        self._newest = {
            "progressPercentage": min(100 * step // self._steps, 100),
            **({} if seconds_left is None else {"estimatedRemainingSeconds": round(seconds_left)}),
            "metrics": [{"name": name, "value": f"{value:.6g}"} for name, value in self._metrics.items()],
            "lastUpdatedTime": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _post_all(self) -> None:
        while not self._ended.is_set():
            self._post_newest()
            self._ended.wait(self._every_seconds)
        self._post_newest()

    def _post_newest(self) -> None:
        newest, self._newest = self._newest, None
        if newest is None:
            return
        try:
            self._post(newest)
        except (OSError, HTTPException, ValueError) as error:
            if not self._has_warned:
                log_rank(f"cannot post the status to {self._url}, will retry: {error}")
            self._has_warned = True

    def _post(self, status: dict[str, object]) -> None:
        headers = {"Content-Type": "application/json"}
        if self._token_file:
            # Read each time, because the kubelet rotates the token during a run.
            headers["Authorization"] = f"Bearer {Path(self._token_file).read_text().strip()}"
        body = json.dumps({"trainerStatus": status}).encode()
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the operator sets the URL
        context = ssl.create_default_context(cafile=self._ca_file)
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=context) as answer:  # noqa: S310
            answer.read()
