"""How a user's mistake ends: in one line that says what to do."""

from __future__ import annotations

import click

from validator.exit_codes import MISSING, NOTHING


class EndError(click.ClickException):
    """An end with an exit code of its own."""


class NothingLintedError(EndError):
    """Nothing could be linted: neither clean nor a list of findings."""

    exit_code = NOTHING


class NotHereError(EndError):
    """Something that a run needs is not on this machine."""

    exit_code = MISSING
