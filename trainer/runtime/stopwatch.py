"""Where the time of a step goes."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Stopwatch:
    """Adds up seconds under names until they are taken.

    A GPU has only been told what to do when the host is done: what it computes is timed by events on it.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._seconds: dict[str, float] = defaultdict(float)
        self._events: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] = []

    @contextmanager
    def timing(self, name: str, *, computing: bool = False) -> Iterator[None]:
        """The time that the body takes counts for `name`; with `computing` it is the GPU's, where there is one."""
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
        """The seconds so far, by name; they start from nothing again. Waits for what the GPU has been told."""
        for name, begin, end in self._events:
            end.synchronize()
            self._seconds[name] += begin.elapsed_time(end) / 1000
        self._events.clear()
        taken, self._seconds = self._seconds, defaultdict(float)
        return taken
