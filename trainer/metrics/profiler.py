"""A trace of the next steps, when somebody asks for one."""

import os
import signal
from pathlib import Path
from types import FrameType

import torch
from torch.profiler import ProfilerActivity, profile

from trainer.metrics.figures import Sink, Start, StepFigures
from trainer.runtime.log import log, note


class Profiler(Sink):
    """From SIGUSR1 on, this rank traces `steps` steps into a file in `directory`, to be opened in Perfetto or Chrome.

    Make it in the main thread. The number of the signal also goes to the pipe of `runtime.signals`, which leaves it.
    """

    def __init__(self, directory: Path, steps: int, rank: int) -> None:
        self._directory = directory
        self._steps = steps
        self._rank = rank
        self._is_asked = False
        self._trace: profile | None = None
        self._steps_left = 0
        signal.signal(signal.SIGUSR1, self._ask)

    def started(self, start: Start) -> None:  # noqa: ARG002 - the sinks' signature
        """Says how to ask, for a start."""
        log(f"profile: kill -USR1 {os.getpid()} traces {self._steps} steps of rank 0 into {self._directory}")

    def stepped(self, figures: StepFigures) -> None:
        """Between two steps a trace begins or ends."""
        if self._trace is not None:
            self._steps_left -= 1
            if not self._steps_left:
                self._finish(figures.progress.step)
        elif self._is_asked:
            self._is_asked = False
            self._steps_left = self._steps
            gpu = [ProfilerActivity.CUDA] if torch.cuda.is_available() else []
            self._trace = profile(activities=[ProfilerActivity.CPU, *gpu])
            self._trace.start()

    def close(self) -> None:
        """Drops a trace that is not complete."""
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
            note(f"profile written: {path}")
