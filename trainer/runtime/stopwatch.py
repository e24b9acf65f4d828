"""A stopwatch for the parts of a step."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Stopwatch:
    """Adds up seconds by name until they are taken.

    GPU work is timed with CUDA events, because the host only enqueues it.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._seconds: dict[str, float] = defaultdict(float)
        self._events: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] = []

    @contextmanager
    def timing(self, name: str, *, computing: bool = False) -> Iterator[None]:
        """Adds the duration of the body to `name`. With `computing` it is the GPU's time, if there is a GPU."""
        if computing and self._on_gpu:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            begin.record()
            yield
            end.record()
            self._events.append((name, begin, end))
            return
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += time.perf_counter() - begun

    def take(self) -> dict[str, float]:
        """Returns the seconds so far by name, and resets them. Waits for enqueued GPU work."""
        for name, begin, end in self._events:
            end.synchronize()
            self._seconds[name] += begin.elapsed_time(end) / 1000
        self._events.clear()
        taken, self._seconds = self._seconds, defaultdict(float)
        return taken
