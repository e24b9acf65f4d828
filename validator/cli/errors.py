"""Exit codes, and how a user's mistake ends: in one line that says what to do."""

from __future__ import annotations

import click

CLEAN, FINDINGS, USAGE, NOTHING = range(4)
BUG = 70
INTERRUPTED = 130


class NothingLintedError(click.ClickException):
    """Nothing could be linted: neither clean nor a list of findings."""

    exit_code = NOTHING
