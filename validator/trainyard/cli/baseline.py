"""`trainyard baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trainyard.cli.options import FILES, selection, session
from trainyard.linting.exit_codes import CLEAN, NOTHING

HELP = """Record today's findings in a file, so that `trainyard lint --baseline` reports only new ones.

A finding is identified by its rule, its file and the text of its line. It stays known when the line moves.

\b
  trainyard baseline k8s/
  trainyard lint k8s/ --baseline trainyard-baseline.json

Exit codes: 0 written, 2 wrong usage or configuration, or a file that cannot be written, 3 nothing was linted.
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
    help="The baseline file to write.",
)
def command(files: tuple[str, ...], output: Path, **options: Any) -> int:
    """Writes a baseline."""
    from trainyard.counting import counted
    from trainyard.editing.atomic_write import replace
    from trainyard.linting import baseline
    from trainyard.reporters.escaping import visible

    report = session(files, **options).lint()
    if report.nothing_linted:
        click.echo("Nothing was linted, so no baseline was written: `trainyard lint` shows why.", err=True)
        return NOTHING
    try:
        replace(output, baseline.save_baseline(report.findings).encode())
    except OSError as error:
        raise click.ClickException(f"--output: {output} cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {counted(len(report.findings), 'finding')} to {visible(str(output))}.")
    return CLEAN
