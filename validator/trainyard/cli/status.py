"""`trainyard status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard import DISTRIBUTION
from trainyard.cli.connection import connection, reader
from trainyard.cli.format_option import formats
from trainyard.linting.exit_codes import CLEAN, FINDINGS

if TYPE_CHECKING:
    from trainyard.commands.status.reading import Reader

HELP = f"""Show what a run in a cluster waits for, how far it is, or why it has failed.

RUN is NAME, KIND/NAME or the name of a Helm release. Without it, all runs of the namespace are listed. Steps, speed and
checkpoints are those that the reference trainer reports; other programs have none. Nothing is ever changed.

\b
  trainyard status                             the runs of the namespace
  trainyard status llm -n research             one run, with a row for each pod
  trainyard status trainjob/llm --output-format json

Needs the Kubernetes client: python -m pip install '{DISTRIBUTION}[status]'

Exit codes: 0 the run trains, waits or has succeeded, 1 it has failed or needs a change to start, 2 wrong usage or no
answer from the cluster, 3 no such run.
"""


@click.command(name="status", help=HELP)
@click.argument("run", required=False, metavar="[RUN]")
@connection
@click.option("-A", "--all-namespaces", is_flag=True, help="List the runs of all namespaces.")
@formats
def command(
    run: str | None,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str | None,
    all_namespaces: bool,
    output: str,
) -> int:
    """Shows the state of a run, or of all."""
    if run and all_namespaces:
        raise click.UsageError("--all-namespaces lists runs; name the namespace of one run with -n")
    with reader(kubeconfig, context, namespace) as (found, place):
        return show(found, run, place, output) if run else _list(found, "" if all_namespaces else place, output)


def show(found: Reader, run: str, place: str, output: str) -> int:
    """Prints the state of one run and returns the exit code."""
    from trainyard.commands.status import report
    from trainyard.commands.status.verdict import judge
    from trainyard.reporters.escaping import whole_line

    snapshot = found.snapshot(found.find(run, place))
    verdict = judge(snapshot)
    if output == "json":
        tree = {"version": report.VERSION, **report.tree(verdict, snapshot.now), "notes": found.notes}
        click.echo(json.dumps(tree, indent=2))
    else:
        for line in report.lines(verdict, snapshot.now):
            click.echo(whole_line(line))
    return FINDINGS if verdict.is_blocked else CLEAN


def _list(found: Reader, place: str, output: str) -> int:
    import datetime

    from trainyard.commands.status import report
    from trainyard.commands.status.verdict import judge
    from trainyard.reporters.escaping import whole_line

    verdicts = [judge(snapshot) for snapshot in found.snapshots(found.runs(place))]
    now = datetime.datetime.now(datetime.UTC)
    if output == "json":
        runs = [report.tree(verdict, now) for verdict in verdicts]
        click.echo(json.dumps({"version": report.VERSION, "runs": runs, "notes": found.notes}, indent=2))
    elif verdicts:
        for line in report.overview(verdicts, now):
            click.echo(whole_line(line))
    else:
        click.echo(f"No runs in {f'namespace {place}' if place else 'any namespace'}.", err=True)
    return CLEAN
