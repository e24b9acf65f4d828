"""The batches of a rank, optionally read ahead by worker processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from ..errors import DataError
from .batch import Batch, Indices, Samples
from .sampler import Step

# A rank that cannot read its samples still takes the step, so that all ranks can end the run together.
Read = Batch | DataError


class BatchLoader:
    """Reads batches of `samples` in this process, or ahead of it in `workers` processes.

    The workers start with the first batch and stay until `close`. They get the samples once.

    Args:
        samples: The samples.
        workers: Number of worker processes; 0 reads in this process.
        device: The device that the batches are for. Those for a GPU are put into page-locked memory.
    """

    def __init__(self, samples: Samples, workers: int, device: torch.device) -> None:
        self._samples = _Readable(samples)
        self._pins = device.type == "cuda"
        self._schedule = _Schedule()
        self._loader = self._start(workers) if workers else None

    def load(self, steps: Iterable[Step]) -> Iterator[tuple[Step, Read]]:
        """Yields this rank's batch of each step. Nothing is to be saved: the steps have the position of the run."""
        if self._loader is None:
            for step in steps:
                read = self._samples[step.indices]
                yield step, read.pin_memory() if self._pins and isinstance(read, Batch) else read
            return
        self._schedule.begin(steps)
        for read in self._loader:
            yield self._schedule.next(), read

    def close(self) -> None:
        """Ends the workers."""
        self._loader = None

    def _start(self, workers: int) -> DataLoader[Read]:
        # Forking a process with gloo's threads can deadlock on a lock that one of them holds.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([f"{__package__}.worker_preload"])
        return DataLoader(
            self._samples,
            batch_size=None,
            sampler=self._schedule,
            num_workers=workers,
            worker_init_fn=partial(_follow, os.getpid()),
            multiprocessing_context=context,
            persistent_workers=True,
            pin_memory=self._pins,
            # The loader draws a seed per epoch. From the global generator, it would change the dropout masks of a run
            # that resumes within an epoch.
            generator=torch.Generator(),
        )


class _Readable(Dataset[Read]):
    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def __getitem__(self, indices: Indices) -> Read:
        try:
            return self._samples.take(indices)
        except DataError as error:
            return error


class _Schedule(Sampler[Indices]):
    """The indices of each step, and the steps whose batches are being read."""

    def __init__(self) -> None:
        self._steps: Iterable[Step] = ()
        self._in_flight: deque[Step] = deque()

    def begin(self, steps: Iterable[Step]) -> None:
        """Sets the steps of the next iteration."""
        self._steps = steps
        self._in_flight.clear()

    def __iter__(self) -> Iterator[Indices]:
        for step in self._steps:
            self._in_flight.append(step)
            yield step.indices

    def next(self) -> Step:
        """Returns the step of the next batch."""
        return self._in_flight.popleft()


def _follow(rank: int, _: int) -> None:
    """Makes a worker outlive SIGTERM, and end with the process `rank`."""
    # Repeats `trainer.data.worker_preload`, because torch installs a handler that ends its workers.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # torch watches the parent of a worker. That is the fork server, which stays as long as it has a child.
    if hasattr(os, "pidfd_open"):
        threading.Thread(target=_end_with, args=(rank,), daemon=True).start()


def _end_with(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        select.select([os.pidfd_open(process)], [], [])
    os._exit(0)
