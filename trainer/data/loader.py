"""Batches of a rank, read ahead by processes of its own if wanted."""

import multiprocessing
import signal
from collections.abc import Iterable, Iterator

from torch.utils.data import DataLoader, Dataset

from trainer.data.batch import Batch, Samples
from trainer.data.sampler import Step


class _Taken(Dataset[Batch]):
    def __init__(self, samples: Samples, steps: list[Step]) -> None:
        self._samples = samples
        self._steps = steps

    def __len__(self) -> int:
        return len(self._steps)

    def __getitem__(self, number: int) -> Batch:
        return self._samples.take(self._steps[number].indices)


def load(samples: Samples, steps: Iterable[Step], workers: int) -> Iterator[tuple[Step, Batch]]:
    """This rank's batch of each step. What is read ahead belongs to no state: the steps say where the run is."""
    if workers == 0:
        for step in steps:
            yield step, samples.take(step.indices)
        return
    listed = list(steps)
    # A fork of a process that has gloo's threads may hang in a lock that one of them held.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["trainer.data.readers"])
    loader = DataLoader(
        _Taken(samples, listed),
        batch_size=None,
        num_workers=workers,
        worker_init_fn=_outlive_sigterm,
        multiprocessing_context=context,
    )
    yield from zip(listed, loader, strict=True)


def _outlive_sigterm(_: int) -> None:
    # What `trainer.data.readers` says, once more: torch gives its workers a handler that ends them.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
