"""`trainyard audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validator import exit_codes
from validator.cli import output
from validator.cli.options import selection, session

if TYPE_CHECKING:
    from validator.files import File
    from validator.linting import Report
    from validator.session import Session

HELP = """Say what is wrong with the runs that are live in a cluster, and with the networks, policies and queues that
they meet. The cluster is only read: jobs and what they refer to, and never a Secret.

\b
  trainyard audit
  trainyard audit -n research -n vision --context h100
  trainyard audit --pedantic --output-format json=audit.json

Lines and columns are those of the object as `kubectl get -o yaml` prints it, without status and what else
the cluster has added. What the user may not read, and what the cluster does not have, is said on stderr.

Needs the Kubernetes client: python -m pip install 'trainyard[audit]'

Exit codes: 0 clean, 1 findings, 2 wrong usage or no answer from the cluster, 3 nothing was found to lint.
"""


@click.command(name="audit", help=HELP)
@click.option(
    "--kubeconfig", metavar="FILE", type=click.Path(path_type=Path), help="Where the cluster is; as kubectl's."
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig; without it the current one.")
@click.option(
    "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Only this namespace; repeat it for several."
)
@selection
@output.options
def command(
    kubeconfig: Path | None,
    context: str | None,
    namespaces: tuple[str, ...],
    outputs: tuple[str, ...],
    color: str,
    statistics: bool,
    **options: Any,
) -> int:
    """Audit, and report."""
    targets = output.targets(outputs)
    run = session(("cluster",), **options)
    files, run = _asked(run, kubeconfig, context, namespaces)
    report = _judged(run, files)
    for name, path in targets:
        output.write(name, path, report, run.rules, color=color, statistics=statistics)
    return exit_codes.of(report)


def _asked(
    run: Session, kubeconfig: Path | None, context: str | None, namespaces: tuple[str, ...]
) -> tuple[list[File], Session]:
    """The cluster's objects, and the session for the version that it has."""
    from validator.audit.cluster import ClusterError, connect
    from validator.audit.references import is_name
    from validator.audit.survey import Survey

    for name in namespaces:
        if not is_name(name):
            raise click.UsageError(f"--namespace: no namespace can be called `{name}`")
    try:
        cluster = connect(kubeconfig, context)
        version = cluster.version()
        survey = Survey(cluster, namespaces)
        files = survey.files()
    except ClusterError as error:
        raise click.ClickException(str(error)) from None
    for note in survey.notes:
        click.echo(f"note: {note}", err=True)
    return files, at_version(run, version)


def at_version(run: Session, version: str | None) -> Session:
    """The session for this version of Kubernetes, unless the user has named one."""
    if version is None or run.config.target.kubernetes is not None:
        return run
    from validator import config
    from validator.session import engine

    target = config.target("kubernetes", version, "the cluster's version", run.config.target)
    wanted = run.config._replace(target=target)
    return run._replace(config=wanted, engine=engine(wanted, run.rules, run.engine.site))


def _judged(run: Session, files: list[File]) -> Report:
    from validator import linting

    report = linting.lint(map(linting.read, files), run.engine, run.config.allow)
    # What is live is in no file that a fix could be written to.
    return report._replace(findings=tuple(finding._replace(edits=()) for finding in report.findings))
