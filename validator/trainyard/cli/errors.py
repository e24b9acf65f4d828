"""Errors that end a command with one line that tells the user what to do."""

from __future__ import annotations

import click

from trainyard.linting.exit_codes import MISSING, NOTHING


class EndError(click.ClickException):
    """An error with an exit code of its own."""


class NothingLintedError(EndError):
    """Nothing could be linted: neither success nor a list of findings."""

    exit_code = NOTHING


class NotHereError(EndError):
    """Something that a run needs is not on this machine."""

    exit_code = MISSING
