"""The options for the format of commands that print text or JSON."""

from __future__ import annotations

import functools
from typing import Any

import click

from trainyard.cli.option_list import Function, option_list

FORMATS = ("text", "json")
_OPTIONS = (
    # `--format` was the name of the option in the first releases of plan and doctor.
    click.option(
        "--output-format",
        "--format",
        "output",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="Format of the output.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Short for --output-format json."),
)


def formats(function: Function) -> Function:
    """Adds the options, which the command gets as `output`."""

    @functools.wraps(function)
    def with_format(*words: Any, output: str, as_json: bool, **options: Any) -> Any:
        return function(*words, output="json" if as_json else output, **options)

    return option_list(*_OPTIONS)(with_format)
