"""Liveness of the ranks when the run hangs."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from .distributed import World
from .store import connect_store

_POLL_SECONDS = 0.1


class LivenessCheck:
    """Finds out which ranks still respond: each writes its position in the code to the rendezvous store.

    Uses no collective, because collectives are what hangs.
    """

    def __init__(self, world: World) -> None:
        self._rank = world.rank
        self._size = world.size
        # The store outlives a restart by torchrun, so the key must be unique to this rendezvous.
        self._key = f"liveness-{world.rendezvous_id}"
        self._store = connect_store() if world.launch.launched else None

    def collect(self, place: str, seconds: float) -> dict[int, str]:
        """Reports `place` for this rank and waits up to `seconds` for the other ranks.

        Returns:
            The place of each rank that responded, by rank.

        Raises:
            TimeoutError: The store does not respond: its process is stopped, gone or unreachable.
        """
        if self._store is None:
            return {self._rank: place}
        answers: dict[int, str] = {}
        # In a separate thread: calls to a stopped store block regardless of the timeout.
        call = threading.Thread(target=self._call, args=(self._store, place, seconds, answers), daemon=True)
        call.start()
        call.join(seconds + 1)
        if not answers:
            raise TimeoutError(f"the store at {self._store.host}:{self._store.port} does not answer")
        return dict(answers)

    def _call(self, store: TCPStore, place: str, seconds: float, answers: dict[int, str]) -> None:
        deadline = time.monotonic() + seconds
        try:
            store.append(self._key, f"{self._rank} {place}\n")  # type: ignore[attr-defined]  # documented
            while len(answers) < self._size and time.monotonic() < deadline:
                for line in store.get(self._key).decode().splitlines():
                    rank, _, there = line.partition(" ")
                    answers[int(rank)] = there
                time.sleep(_POLL_SECONDS)
        except RuntimeError:
            return  # the store is gone; the answers so far are kept


def describe_liveness(answers: Mapping[int, str], size: int) -> str:
    """Describes where the ranks are and which are silent: `ranks 0,2-3 at here; rank 1 silent`."""
    ranks_at: dict[str, list[int]] = defaultdict(list)
    for rank in range(size):
        ranks_at[f"at {answers[rank]}" if rank in answers else "silent (stopped, gone, or cut off)"].append(rank)
    return "; ".join(f"rank{'s' * (len(ranks) > 1)} {_spans(ranks)} {place}" for place, ranks in ranks_at.items())


def _spans(ranks: list[int]) -> str:
    """Formats sorted numbers, with consecutive ones as first-last."""
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], rank]
        else:
            spans.append([rank])
    return ",".join("-".join(map(str, span)) for span in spans)
