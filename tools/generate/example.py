"""A command of `trainyard` with what it prints, for a page of the documentation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
from click.testing import CliRunner


def example(command: click.Command, words: str) -> Iterator[str]:
    """Yield the command with these arguments and its output, as a console shows them."""
    result = CliRunner().invoke(command, shlex.split(words), standalone_mode=False, catch_exceptions=False)
    yield "```console"
    yield f"$ trainyard {command.name} {words}"
    yield from result.output.rstrip().splitlines()
    yield "```"
