"""A profile of the next steps on demand."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import FrameType

import torch
from torch.profiler import ProfilerActivity, profile

from ..runtime.log import log, log_rank
from .base import RunStart, Sink, StepMetrics


class Profiler(Sink):
    """After SIGUSR1, traces `steps` steps of this rank into a file in `directory`, for Perfetto or Chrome.

    Create it in the main thread. The signal number also reaches the pipe of `runtime.signals`, which ignores it.
    """

    def __init__(self, directory: Path, steps: int, rank: int) -> None:
        self._directory = directory
        self._steps = steps
        self._rank = rank
        self._is_asked = False
        self._trace: profile | None = None
        self._steps_left = 0
        signal.signal(signal.SIGUSR1, self._ask)

    def on_start(self, start: RunStart) -> None:  # noqa: ARG002 - the sinks' signature
        """Logs how to request a profile."""
        log(f"profile: kill -USR1 {os.getpid()} traces {self._steps} steps of rank 0 into {self._directory}")

    def on_step(self, metrics: StepMetrics) -> None:
        """Starts or ends a trace between two steps."""
        if self._trace is not None:
            self._steps_left -= 1
            if not self._steps_left:
                self._finish(metrics.train_state.step)
        elif self._is_asked:
            self._is_asked = False
            self._steps_left = self._steps
            gpu = [ProfilerActivity.CUDA] if torch.cuda.is_available() else []
            self._trace = profile(activities=[ProfilerActivity.CPU, *gpu])
            self._trace.start()

    def close(self) -> None:
        """Drops an incomplete trace."""
        if self._trace is not None:
            self._trace.stop()

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler's signature
        self._is_asked = True

    def _finish(self, step: int) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.stop()
            self._directory.mkdir(parents=True, exist_ok=True)
            path = self._directory / f"step-{step:08}-rank-{self._rank:05}.json.gz"
            trace.export_chrome_trace(str(path))
            log_rank(f"profile written: {path}")
