"""The log: one line per event on stdout, written by rank 0 alone."""

import os
import sys

from trainer.errors import TrainerError


def _is_rank_zero() -> bool:
    # Read from the environment, not from the process group: flags are checked before the group exists.
    return os.environ.get("RANK", "0") == "0"


def log(line: str) -> None:
    """Prints `line` when this is rank 0. Flushed, since `kubectl logs --follow` would show it minutes late."""
    if _is_rank_zero():
        print(line, flush=True)


def report(error: TrainerError) -> None:
    """Prints `error` on stderr when this is rank 0; the other ranks fail for the same reason."""
    if _is_rank_zero():
        print(f"trainer: error: {error}", file=sys.stderr, flush=True)
