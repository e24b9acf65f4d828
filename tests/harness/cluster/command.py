"""Exit statuses of the harness's command lines: an expected error is reported as a message, without a traceback."""

from __future__ import annotations

from collections.abc import Callable

from tests.harness.cluster import progress
from tests.harness.cluster.errors import ClusterError

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
            progress.console.print("interrupted: run the same command again to continue")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
