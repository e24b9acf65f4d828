"""`trainyard diff`."""

from __future__ import annotations

import click

from trainyard.cli.format_option import formats
from trainyard.linting.exit_codes import CLEAN, FINDINGS

HELP = """Compare two runs by their meaning.

BEFORE and AFTER are values of charts/training-job, a manifest, or `-` for standard input. `release/NAME` reads a
release with Helm, and KIND/NAME, such as PyTorchJob/llm, a job with kubectl; both take the kubeconfig of the user.
Order, defaults, and units of quantities are no differences. Neither are the names of the two runs.

\b
  trainyard diff run.yaml changed.yaml
  trainyard diff release/llm run.yaml --namespace research
  helm get manifest llm | trainyard diff - run.yaml
  trainyard diff run.yaml changed.yaml --output-format json

Exit codes: 0 the runs mean the same, 1 they differ, 2 wrong usage, a side holds no run, or a cluster does not answer.
"""


@click.command(name="diff", help=HELP)
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path())
@click.option("--site", metavar="FILE", type=click.Path(), help="Values of charts/training-platform, for both runs.")
@click.option("--job", metavar="NAME", help="Name of the job, if a side holds several.")
@click.option("-n", "--namespace", metavar="NAME", help="Namespace of releases and jobs of the cluster.")
@formats
def command(before: str, after: str, site: str | None, job: str | None, namespace: str | None, output: str) -> int:
    """Compares two runs."""
    if before == after == "-":
        raise click.UsageError("only one side can be standard input; name a file for the other one")
    from trainyard.commands.diff import report
    from trainyard.commands.diff.comparison import compare
    from trainyard.commands.diff.sides import read_side
    from trainyard.loaders.site.loading import load_site

    known = load_site(site) if site is not None else None
    one, other = (read_side(name, namespace=namespace, job=job, site=known) for name in (before, after))
    changes = compare(one, other)
    if output == "json":
        import json

        click.echo(json.dumps(report.tree((before, one), (after, other), changes), indent=2, default=str))
    else:
        from trainyard.reporters.escaping import whole_line

        for line in report.text((before, one), (after, other), changes).splitlines():
            click.echo(whole_line(line))
    return FINDINGS if changes else CLEAN
