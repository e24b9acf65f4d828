"""How a command line of the harness ends: in a message and an exit status; a mistake of its user shows no traceback."""

from __future__ import annotations

from collections.abc import Callable

from . import progress
from .errors import ClusterError

INTERRUPTED = 130


def exit_status(run: Callable[[], object]) -> int:
    """Run a typer application and return its exit status: 1 after a `ClusterError`, which it reports."""
    try:
        run()
    except ClusterError as error:
        progress.report(error)
        return 1
    except SystemExit as end:
        if end.code == INTERRUPTED:
            progress.console.print("interrupted: run the same command again and it goes on from here")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
