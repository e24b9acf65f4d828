"""Which ranks still answer, when the run stands still."""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from trainer.runtime.distributed import World
from trainer.runtime.store import connect

_POLL_SECONDS = 0.1


class RollCall:
    """Every rank that lives writes where it stands into the store in which the ranks have met; who does not is silent.

    No collective: those are what hangs.
    """

    def __init__(self, world: World) -> None:
        self._rank = world.rank
        self._size = world.size
        # The store outlives a restart by torchrun, and so do the answers.
        self._key = f"roll-call-{world.meeting}"
        self._store = connect() if world.launch.launched else None

    def answer(self, place: str, seconds: float) -> dict[int, str]:
        """Says that this rank stands at `place`, waits up to `seconds` for the others, returns who said what.

        Raises:
            TimeoutError: The store does not answer: its process is stopped, or gone, or out of reach.
        """
        if self._store is None:
            return {self._rank: place}
        answers: dict[int, str] = {}
        # In a thread of its own, since a store that is stopped keeps whoever asks it, whatever the timeout.
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
            return  # the store has ended, and what it has said stays


def summary(answers: Mapping[int, str], size: int) -> str:
    """Who stands where, and who is silent: `ranks 0,2-3 at here; rank 1 silent`."""
    ranks_at: dict[str, list[int]] = defaultdict(list)
    for rank in range(size):
        ranks_at[f"at {answers[rank]}" if rank in answers else "silent (stopped, gone, or cut off)"].append(rank)
    return "; ".join(f"rank{'s' * (len(ranks) > 1)} {_spans(ranks)} {place}" for place, ranks in ranks_at.items())


def _spans(ranks: list[int]) -> str:
    """Sorted numbers, those in a row as first-last."""
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], rank]
        else:
            spans.append([rank])
    return ",".join("-".join(map(str, span)) for span in spans)
