"""The log: one line per event on stdout, written by rank 0 only."""

from __future__ import annotations

import os
import sys
import time

from ..errors import TrainerError

_HEAD_START_SECONDS = 10.0


def _is_rank_zero() -> bool:
    # Flags are checked before the process group exists, so the rank is read from the environment. If RANK is not a
    # number, every rank counts as rank 0, so that the error is printed.
    rank = os.environ.get("RANK", "0")
    return not rank.isdecimal() or int(rank) == 0


def log(line: str) -> None:
    """Prints `line` if this is rank 0. Flushed, because `kubectl logs --follow` would otherwise lag by minutes."""
    if _is_rank_zero():
        print(line, flush=True)


def report_error(error: TrainerError) -> None:
    """Prints `error` to stderr: at once on rank 0, after a head start on other ranks.

    torchrun ends all processes of a node as soon as one fails. Usually all ranks fail for the same reason; if another
    rank exited before rank 0, the message of rank 0 would be lost. A rank that is still alive after the head start has
    failed for a reason of its own.
    """
    if not _is_rank_zero():
        time.sleep(_HEAD_START_SECONDS)
    print(f"trainer: error: {error}", file=sys.stderr, flush=True)


def log_rank(line: str) -> None:
    """Prints `line` to stderr with the rank, for events of this rank only."""
    print(f"trainer: rank {os.environ.get('RANK', '0')}: {line}", file=sys.stderr, flush=True)
