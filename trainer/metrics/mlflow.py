"""Parameters and metrics in MLflow."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..config import TrainerConfig
from ..errors import ConfigError
from ..runtime.log import log_rank
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .scalars import epoch_scalars, evaluation_scalars, step_scalars
from .throughput import Throughput

if TYPE_CHECKING:
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

# The file in the checkpoint directory with the ID of the MLflow run.
RUN_FILE = "mlflow-run.json"

_EVERY_SECONDS = 5.0
# A server that does not respond delays the end of the run by this time at most.
_CLOSE_SECONDS = 10.0
# About 8,000 steps, kept while the server does not respond.
_MAX_WAITING = 100_000
# Limits of one request, set by MLflow.
_MAX_METRICS, _MAX_PARAMETERS = 1000, 100
_SETTINGS = {
    # The sink itself tries again later. MLflow's own defaults keep a thread busy for minutes.
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    # MLflow refuses folders unless told.
    "MLFLOW_ALLOW_FILE_STORE": "true",
    # A run calls nobody whom its configuration does not name.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    # The log has one form.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}


class MLflow(Sink):
    """Logs from its own thread, so that training does not wait for the server.

    Metrics wait while the server does not respond, the newest `_MAX_WAITING` of them. The first failure is logged.

    Raises:
        ConfigError: The package is not installed, or MLflow does not accept the URI.
    """

    def __init__(
        self,
        config: TrainerConfig,
        world_size: int,
        throughput: Throughput,
        *,
        every_seconds: float = _EVERY_SECONDS,
    ) -> None:
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        try:
            from mlflow.entities import Metric
        except ImportError as error:
            raise ConfigError(
                "--mlflow-uri needs the package mlflow-skinny: pip install it, or leave out the option"
            ) from error
        self._metric = Metric
        self._run = _Run(config, _connect(config.mlflow_uri), _parameters(config, world_size))
        self._throughput = throughput
        self._every_seconds = every_seconds
        self._waiting: deque[Metric] = deque(maxlen=_MAX_WAITING)
        self._batch: list[Metric] = []
        self._lost = 0
        self._steps, self._step = 1, 0
        self._ended = threading.Event()
        self._has_warned = False
        self._thread = threading.Thread(target=self._send_all, name="mlflow", daemon=True)

    def on_start(self, start: RunStart) -> None:
        """Starts logging."""
        self._steps, self._step = start.steps, start.train_state.step
        self._thread.start()

    def on_step(self, metrics: StepMetrics) -> None:
        """Adds the scalars of a step."""
        self._step = metrics.train_state.step
        self._add(step_scalars(metrics, self._throughput), self._step)

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Adds the scalars of an evaluation."""
        self._add(evaluation_scalars(metrics), metrics.step)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Adds the scalars of an epoch."""
        self._add(epoch_scalars(metrics), metrics.step)

    def close(self) -> None:
        """Logs the rest and the status of the run, if the server responds in time."""
        self._ended.set()
        self._thread.join(_CLOSE_SECONDS)
        if lost := self._lost + len(self._batch) + len(self._waiting):
            log_rank(f"{lost} metrics are not in MLflow")

    def _add(self, scalars: Mapping[str, float], step: int) -> None:
        now = time.time_ns() // 1_000_000
        # Databases store infinity as the largest number, which hides the rest of a curve.
        new = [self._metric(name, value, now, step) for name, value in scalars.items() if math.isfinite(value)]
        self._lost += max(0, len(self._waiting) + len(new) - _MAX_WAITING)
        self._waiting.extend(new)

    def _send_all(self) -> None:
        while not self._ended.is_set():
            self._try_to_send()
            self._ended.wait(self._every_seconds)
        self._try_to_send(end=True)

    def _try_to_send(self, *, end: bool = False) -> None:
        try:
            self._run.open()
            while batch := self._next_batch():
                self._run.log(batch)
                self._batch = []
            if end:
                self._run.end(is_complete=self._step >= self._steps)
        # Any error: of the network, the server, the disk or the library.
        except Exception as error:
            if getattr(error, "error_code", "") == "INVALID_PARAMETER_VALUE":
                # The server would refuse these metrics again, and all others would wait for them.
                self._lost += len(self._batch)
                self._batch = []
            if not self._has_warned:
                log_rank(f"cannot log to MLflow, will retry: {' '.join(str(error).split())}")
            self._has_warned = True

    def _next_batch(self) -> list[Metric]:
        if not self._batch:
            count = min(len(self._waiting), _MAX_METRICS)
            self._batch = [self._waiting.popleft() for _ in range(count)]
        return self._batch


class _Run:
    """The MLflow run. A resumed run finds its ID in the checkpoint directory, which no other run uses."""

    def __init__(self, config: TrainerConfig, client: MlflowClient, parameters: Mapping[str, str]) -> None:
        self._config = config
        self._client = client
        self._parameters = parameters
        self._file = Path(config.checkpoint_dir) / RUN_FILE
        self._id = ""
        self._is_open = False

    def open(self) -> None:
        """Continues the run, or creates it. Does nothing if it is open."""
        if self._is_open:
            return
        # Kept if a later call fails, or each retry would create a run.
        self._id = self._id or self._recorded() or self._create()
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps({"run_id": self._id}))
        temporary.replace(self._file)
        self._log_parameters()
        self._is_open = True

    def log(self, metrics: list[Metric]) -> None:
        """Adds metrics, at most 1,000."""
        self._client.log_batch(self._id, metrics=metrics)

    def end(self, *, is_complete: bool) -> None:
        """Sets the status."""
        self._client.set_terminated(self._id, status="FINISHED" if is_complete else "KILLED")

    def _recorded(self) -> str | None:
        """Returns the ID in the file, unless there is none or that run was deleted."""
        try:
            found = str(json.loads(self._file.read_text())["run_id"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        from mlflow.exceptions import MlflowException

        try:
            info = self._client.get_run(found).info
        except MlflowException as error:
            if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                return None
            raise
        if info.lifecycle_stage != "active":
            return None
        self._client.update_run(found, status="RUNNING")
        return found

    def _create(self) -> str:
        name = self._config.mlflow_experiment
        experiment = self._client.get_experiment_by_name(name)
        number = experiment.experiment_id if experiment else self._client.create_experiment(name)
        return str(self._client.create_run(number, run_name=self._config.mlflow_run or None).info.run_id)

    def _log_parameters(self) -> None:
        """Adds the parameters that the run lacks. MLflow never changes one: a new value becomes a tag of that name."""
        from mlflow.entities import Param, RunTag

        known = self._client.get_run(self._id).data.params
        new = [Param(name, value) for name, value in self._parameters.items() if name not in known]
        for first in range(0, len(new), _MAX_PARAMETERS):
            self._client.log_batch(self._id, params=new[first : first + _MAX_PARAMETERS])
        changed = {name: value for name, value in self._parameters.items() if known.get(name, value) != value}
        if changed:
            self._client.log_batch(self._id, tags=[RunTag(name, value) for name, value in changed.items()])


def _connect(uri: str) -> MlflowClient:
    from mlflow.tracking import MlflowClient

    if urlsplit(uri).password:
        raise ConfigError(
            "--mlflow-uri must not hold a password, because checkpoints hold all fields: "
            "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
        )
    try:
        return MlflowClient(tracking_uri=uri)
    except Exception as error:
        raise ConfigError(
            f"MLflow does not accept --mlflow-uri {uri}: write http://HOST:PORT, or a folder. A database needs the "
            f"package mlflow instead of mlflow-skinny ({type(error).__name__})"
        ) from error


def _parameters(config: TrainerConfig, world_size: int) -> dict[str, str]:
    known = {name: value for name, value in config.as_json().items() if not name.startswith("mlflow_")}
    return {
        name: value if isinstance(value, str) and value else json.dumps(value)
        for name, value in (known | {"world_size": world_size}).items()
    }
