"""How far a run is, for Kubeflow Trainer, which shows it in the status of the TrainJob.

Sources: https://github.com/kubeflow/trainer/tree/master/proposals/2779-trainjob-progress and, for the names, which are
not those of the proposal, v2.2.0 and v2.3.0 pkg/runtime/framework/plugins/trainjobstatus/trainjobstatus.go.
"""

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

from trainer.metrics.figures import EpochFigures, Sink, Start, StepFigures
from trainer.metrics.pace import Pace
from trainer.runtime.log import note

URL = "KUBEFLOW_TRAINER_SERVER_URL"
CA_FILE = "KUBEFLOW_TRAINER_SERVER_CA_CERT"
TOKEN_FILE = "KUBEFLOW_TRAINER_SERVER_TOKEN"  # noqa: S105 - the name of a variable that has a file's path

# As often as Kubeflow's own SDK at most.
_EVERY_SECONDS = 5.0
_TIMEOUT_SECONDS = 5.0


class KubeflowStatus(Sink):
    """Posts the newest status from a thread of its own, which waits for the server, so that training does not.

    A post that fails is left out, with a warning the first time: the next one says more.
    """

    def __init__(
        self,
        url: str,
        pace: Pace,
        *,
        ca_file: str | None = None,
        token_file: str | None = None,
        every_seconds: float = _EVERY_SECONDS,
    ) -> None:
        self._url = url
        self._pace = pace
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
    def from_environment(cls, pace: Pace, environment: Mapping[str, str] = os.environ) -> Self | None:
        """For the server that the operator names; None outside of a TrainJob."""
        if not (url := environment.get(URL)):
            return None
        return cls(url, pace, ca_file=environment.get(CA_FILE), token_file=environment.get(TOKEN_FILE))

    def started(self, start: Start) -> None:
        """Says where the run stands."""
        self._steps = max(start.steps, 1)
        self._note(start.progress.step)
        self._thread.start()

    def stepped(self, figures: StepFigures) -> None:
        """Has the next post say how far the run is."""
        rates = {"samples_per_second": self._pace.samples_per_second, "tokens_per_second": self._pace.tokens_per_second}
        known = {"step": figures.progress.step, "loss": figures.loss, "mfu": self._pace.mfu, **rates}
        self._metrics |= {name: value for name, value in known.items() if value is not None}
        self._note(figures.progress.step)

    def epoch_done(self, figures: EpochFigures) -> None:
        """Has the next post tell of the epoch."""
        self._metrics |= {"epoch": figures.epoch, "epoch_loss": figures.loss, "test_accuracy": figures.test_accuracy}
        self._note(figures.step)

    def close(self) -> None:
        """Posts what has not been posted yet, if the server answers in time."""
        self._ended.set()
        self._thread.join(2 * _TIMEOUT_SECONDS)

    def _note(self, step: int) -> None:
        seconds_left = self._pace.seconds_left
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
                note(f"the status cannot be posted to {self._url}, and will be tried again: {error}")
            self._has_warned = True

    def _post(self, status: dict[str, object]) -> None:
        headers = {"Content-Type": "application/json"}
        if self._token_file:
            # Read each time: the kubelet replaces it long before a run ends.
            headers["Authorization"] = f"Bearer {Path(self._token_file).read_text().strip()}"
        body = json.dumps({"trainerStatus": status}).encode()
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the operator's own
        context = ssl.create_default_context(cafile=self._ca_file)
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=context) as answer:  # noqa: S310
            answer.read()
