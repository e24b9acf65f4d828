"""The log: one line per event on stdout, written by rank 0 alone."""

import os
import sys
import time

from trainer.errors import TrainerError

_HEAD_START_SECONDS = 10.0


def _is_rank_zero() -> bool:
    # Read from the environment, not from the process group: flags are checked before the group exists. A RANK that is
    # no number is about to be an error, and somebody has to say so.
    rank = os.environ.get("RANK", "0")
    return not rank.isdecimal() or int(rank) == 0


def log(line: str) -> None:
    """Prints `line` when this is rank 0. Flushed, since `kubectl logs --follow` would show it minutes late."""
    if _is_rank_zero():
        print(line, flush=True)


def report(error: TrainerError) -> None:
    """Prints `error` on stderr, on rank 0 at once.

    Mostly all ranks fail for the same reason, and torchrun ends all processes of a node as soon as one has failed: a
    rank that left before a slower rank 0 would cost it its message. Whoever still lives after a head start has a
    reason of its own.
    """
    if not _is_rank_zero():
        time.sleep(_HEAD_START_SECONDS)
    print(f"trainer: error: {error}", file=sys.stderr, flush=True)


def note(line: str) -> None:
    """Prints `line` on stderr, for what only this rank knows."""
    print(f"trainer: rank {os.environ.get('RANK', '0')}: {line}", file=sys.stderr, flush=True)
