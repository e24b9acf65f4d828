"""Commands that run outside of a process group."""

from __future__ import annotations

import os
from collections.abc import Callable

from .errors import TrainerError
from .runtime.file_limit import raise_file_limit
from .runtime.log import log, report_error


def run_standalone(command: Callable[[], str]) -> int:
    """Prints the line that `command` returns, or its error.

    Returns:
        The exit status: 0, or that of the error.
    """
    raise_file_limit()
    os.environ.pop("RANK", None)  # set in the pods of a run, where only rank 0 logs
    try:
        log(command())
    except TrainerError as error:
        report_error(error)
        return error.exit_code
    return 0
