"""Injections: functions that cause a fault on a real cluster and remove it again. They return the time of the fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tools.faults.runners import Runner
from tools.faults.sandbox import Sandbox

Injection = Callable[[Sandbox, Runner], float]
# Chooses the pod that a fault hits.
Choice = Callable[[Runner], str]


def store_pod(runner: Runner) -> str:
    """Return the pod with the rendezvous store and rank 0."""
    return runner.rendezvous_pod


def other_pod(runner: Runner) -> str:
    """Return the pod without the store."""
    return runner.other_pod


@contextmanager
def temporary(do: Callable[[], object], undo: Callable[[], object]) -> Iterator[float]:
    """Cause a fault for the duration of a block, which gets its time."""
    injected = time.time()
    try:
        do()
        yield injected
    finally:
        undo()


def lasting(seconds: float, do: Callable[[], object], undo: Callable[[], object]) -> float:
    """Cause a fault for some seconds, and return its time."""
    with temporary(do, undo) as injected:
        time.sleep(seconds)
    return injected
