"""A command that is no rank of a run: it says one line, or why it cannot."""

import os
from collections.abc import Callable

from trainer.errors import TrainerError
from trainer.runtime.log import log, report


def answer(say: Callable[[], str]) -> int:
    """Prints what `say` returns, and returns the exit status: 0, or that of the error that it raises."""
    os.environ.pop("RANK", None)  # in a pod of a run it is set, and only rank 0 would be heard
    try:
        log(say())
    except TrainerError as error:
        report(error)
        return error.exit_code
    return 0
