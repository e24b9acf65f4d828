"""The options for the format and the destination of a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard.cli.option_list import Function, option_list

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report


FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")


def _formats(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    return [name for name in FORMATS if name.startswith(incomplete)]


_OPTIONS = (
    click.option(
        "--output-format",
        "outputs",
        multiple=True,
        metavar="FORMAT[=FILE]",
        shell_complete=_formats,
        help=f"Format of the report: {', '.join(FORMATS)}. Repeatable; =FILE writes it to a file.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to use colours.",
    ),
    click.option("--statistics", is_flag=True, help="Also print the number of findings of each rule."),
)


def options(function: Function) -> Function:
    """Adds the options of a report."""
    return option_list(*_OPTIONS)(function)


def targets(outputs: tuple[str, ...]) -> list[tuple[str, Path | None]]:
    """Returns formats with their files; None is standard output, which takes only one format."""
    from trainyard.engine.selection import nearest

    result: list[tuple[str, Path | None]] = []
    for text in outputs or ("text",):
        name, equals, file = text.partition("=")
        if name not in FORMATS:
            hint = nearest(name, FORMATS) or f"write one of {', '.join(FORMATS)}"
            raise click.UsageError(f"--output-format: there is no format `{name}`; {hint}")
        if equals and not file:
            raise click.UsageError(f"--output-format {text}: write a file after the `=`, or leave it out")
        result.append((name, Path(file) if equals else None))
    if sum(path is None for _, path in result) > 1:
        raise click.UsageError("--output-format: only one can go to the terminal; write FORMAT=FILE for the others")
    return result


def say(text: str) -> None:
    """Prints a line on stderr that holds names of the user's."""
    from trainyard.reporters.escaping import whole_line

    click.echo(whole_line(text), err=True)


def show_notes(report: Report) -> None:
    """Names on stderr what was not checked: other lines on stdout would break formats for programs."""
    if report.notes:
        from trainyard.reporters.text import notes

        sys.stderr.write(notes(report))


def write(name: str, path: Path | None, report: Report, rules: Sequence[Rule], *, color: str, statistics: bool) -> None:
    """Writes a report in a format, to a file or to standard output."""
    from trainyard import reporters

    if path is None:
        reporters.show(name, report, rules, color, statistics=statistics)
        return
    style = reporters.Style(color=color == "always", statistics=statistics)
    text = reporters.render(name, report, rules, style)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise click.ClickException(f"--output-format: {path} cannot be written: {error.strerror}") from None
