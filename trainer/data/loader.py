"""The batches of a rank, optionally read ahead by worker processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator

from torch.utils.data import DataLoader, Dataset

from trainer.data.batch import Batch, Samples
from trainer.data.sampler import Step


class _StepDataset(Dataset[Batch]):
    def __init__(self, samples: Samples, steps: list[Step]) -> None:
        self._samples = samples
        self._steps = steps

    def __len__(self) -> int:
        return len(self._steps)

    def __getitem__(self, number: int) -> Batch:
        return self._samples.take(self._steps[number].indices)


def load_batches(samples: Samples, steps: Iterable[Step], workers: int) -> Iterator[tuple[Step, Batch]]:
    """Yields this rank's batch of each step. Nothing is to be saved: the steps have the position of the run."""
    if workers == 0:
        for step in steps:
            yield step, samples.take(step.indices)
        return
    listed = list(steps)
    # Forking a process with gloo's threads can deadlock on a lock that one of them holds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["trainer.data.worker_preload"])
    loader = DataLoader(
        _StepDataset(samples, listed),
        batch_size=None,
        num_workers=workers,
        worker_init_fn=_outlive_sigterm,
        multiprocessing_context=context,
    )
    yield from zip(listed, loader, strict=True)


def _outlive_sigterm(_: int) -> None:
    # Repeats `trainer.data.worker_preload`, because torch installs a handler that ends its workers.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
