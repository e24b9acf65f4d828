"""How a user's mistake ends: in one line that says what to do."""

from __future__ import annotations

import click

from validator.exit_codes import NOTHING


class NothingLintedError(click.ClickException):
    """Nothing could be linted: neither clean nor a list of findings."""

    exit_code = NOTHING
