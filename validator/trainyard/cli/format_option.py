"""The option for the format of commands that print text or JSON."""

from __future__ import annotations

import click

FORMATS = ("text", "json")
# `--format` was the name of the option in the first releases of plan and doctor.
FORMAT = click.option(
    "--output-format",
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Format of the output.",
)
