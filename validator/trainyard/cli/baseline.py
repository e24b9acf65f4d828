"""`trainyard baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from validator.cli.options import FILES, selection, session
from validator.exit_codes import CLEAN, NOTHING

HELP = """Write down what is found today, so that only new findings count.

Findings are known again by their rule, their file and the words of their line, so that lines may move.

\b
  trainyard baseline k8s/
  trainyard lint k8s/ --baseline trainyard-baseline.json
"""


@click.command(name="baseline", help=HELP)
@FILES
@selection
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("trainyard-baseline.json"),
    show_default=True,
    help="Where it is written.",
)
def command(files: tuple[str, ...], output: Path, **options: Any) -> int:
    """Write a baseline."""
    from validator import baseline
    from validator.reporters.text import counted
    from validator.writing import replace

    report = session(files, **options).lint()
    if report.nothing_linted:
        click.echo("Nothing was linted, so nothing is written: `trainyard lint` says more.", err=True)
        return NOTHING
    try:
        replace(output, baseline.write(report.findings).encode())
    except OSError as error:
        raise click.ClickException(f"--output: {output} cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {counted(len(report.findings), 'finding')} to {output}.")
    return CLEAN
