"""The error of this process, for the summary that torchrun prints last.

`torch.distributed.elastic.multiprocessing.errors.record` does the same. But it needs an import of torch, which takes
seconds and would delay errors about flags, and it does not know errors that end the process without an exception.
"""

from __future__ import annotations

import json
import os
import time
import traceback
from contextlib import suppress
from pathlib import Path

from ..errors import TrainerError

# Set by torchrun for each rank.
_VARIABLE = "TORCHELASTIC_ERROR_FILE"


def record_error(message: str) -> None:
    """Writes the error to the file that torchrun reads when this process has failed; without torchrun, does nothing."""
    _write({"message": message, "extraInfo": {"timestamp": str(int(time.time()))}})


def record_exception(error: Exception) -> None:
    """Writes the exception with its traceback, as `record_error` does a message.

    torchrun shows the earliest error as the root cause and knows only whole seconds. So a collective that failed, which
    is the consequence of another rank's error, is dated a second later.
    """
    details = {
        "timestamp": str(int(time.time()) + is_of_lost_peer(error)),
        "py_callstack": "".join(traceback.format_exception(error)).rstrip(),
    }
    _write({"message": repr(error), "extraInfo": details})


def is_of_lost_peer(error: Exception) -> bool:
    """Returns true if the error is that of a collective, which fails on all ranks once one of them is gone."""
    # The message of an error of the trainer may hold any path.
    if isinstance(error, TrainerError):
        return False
    return type(error).__module__ == "torch.distributed" or "gloo" in str(error)


def clear_recorded_error() -> None:
    """Removes the error of an earlier attempt of this rank, which has been restarted in place."""
    if path := os.environ.get(_VARIABLE):
        with suppress(OSError):
            Path(path).unlink(missing_ok=True)


def _write(message: dict[str, object]) -> None:
    if path := os.environ.get(_VARIABLE):
        # A full disk must not hide the error itself.
        with suppress(OSError):
            Path(path).write_text(json.dumps({"message": message}))
