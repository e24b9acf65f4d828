"""`trainyard top`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard import DISTRIBUTION
from trainyard.cli.connection import connection, reader
from trainyard.cli.format_option import formats
from trainyard.cli.status import show
from trainyard.linting.exit_codes import CLEAN, FINDINGS

if TYPE_CHECKING:
    from trainyard.commands.status.reading import Reader

HELP = """Watch a run: what `trainyard status` shows, again every few seconds, until the run has ended.

In a pipe, and with --output-format json, it prints once.

\b
  trainyard top llm -n research
  trainyard top llm --interval 10

Exit codes are those of `trainyard status`.
"""


@click.command(name="top", help=HELP)
@click.argument("run", metavar="RUN")
@connection
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two updates.",
)
@formats
def command(
    run: str, kubeconfig: Path | None, context: str | None, namespace: str | None, interval: float, output: str
) -> int:
    """Watches a run."""
    with reader(kubeconfig, context, namespace) as (found, place):
        if output == "json" or not sys.stdout.isatty():
            return show(found, run, place, output)
        return _watch(found, run, place, interval)


def _watch(found: Reader, run: str, place: str, interval: float) -> int:
    try:
        from rich.live import Live
        from rich.text import Text
    except ImportError:
        raise click.ClickException(
            f"the display needs the package rich: python -m pip install '{DISTRIBUTION}[status]'"
        ) from None
    from trainyard.commands.status import report
    from trainyard.commands.status.verdict import judge
    from trainyard.reporters.escaping import whole_line

    job = found.find(run, place)
    last: list[str] = []
    try:
        with Live(screen=True, auto_refresh=False) as live:
            while True:
                snapshot = found.snapshot(job)
                verdict = judge(snapshot)
                last = [whole_line(line) for line in report.lines(verdict, snapshot.now, live.console.width)]
                seen = f"{snapshot.now:%H:%M:%S} UTC, every {interval:g} s; Ctrl-C ends"
                live.update(Text("\n".join([*last, "", seen]), no_wrap=True, overflow="ellipsis"), refresh=True)
                if verdict.state in ("succeeded", "failed"):
                    break
                time.sleep(interval)
                job = found.again(job)
    except KeyboardInterrupt:
        verdict = judge(snapshot)
    click.echo("\n".join(last))
    return FINDINGS if verdict.is_blocked else CLEAN
