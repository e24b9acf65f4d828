"""`trainyard audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard import DISTRIBUTION
from trainyard.cli import audit_platform, output
from trainyard.cli.connection import CONTEXT, KUBECONFIG
from trainyard.cli.options import outcome, selection, session
from trainyard.linting import exit_codes

if TYPE_CHECKING:
    from trainyard.document.files import File
    from trainyard.linting.report import Report
    from trainyard.linting.session import Session

HELP = f"""Check the runs that are live in a cluster, with its networks, policies and queues.

The audit reads jobs and the objects that they refer to. It never writes, and never reads a Secret.

\b
  trainyard audit
  trainyard audit -n research -n vision --context h100
  trainyard audit --pedantic --output-format json=audit.json
  trainyard audit --platform site.yaml         does the cluster fulfil its site?

With --platform, the cluster is compared with the values of charts/training-platform instead: the objects of its release
and their images, APIs, devices, labels of nodes, networks, queues and classes.

Lines and columns are those of `kubectl get -o yaml`, without the status and the fields that the cluster adds. A note on
stderr names each kind that the user may not read or the cluster does not have.

Needs the Kubernetes client: python -m pip install '{DISTRIBUTION}[audit]'

Exit codes: 0 clean, 1 findings, 2 wrong usage or no answer from the cluster, 3 nothing to lint or compare.
"""


@click.command(name="audit", help=HELP)
@KUBECONFIG
@CONTEXT
@click.option(
    "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Check only this namespace. Repeatable."
)
@click.option(
    "--platform", metavar="SITE", help="Compare the cluster with the values of charts/training-platform in this file."
)
@click.option(
    "--release",
    metavar="NAME",
    help="Release of the platform, with -n for its namespace. Default: platform in trainyard.",
)
@selection
@outcome
@output.options
def command(
    kubeconfig: Path | None,
    context: str | None,
    namespaces: tuple[str, ...],
    platform: str | None,
    release: str | None,
    outputs: tuple[str, ...],
    color: str,
    statistics: bool,
    **options: Any,
) -> int:
    """Audits the cluster and reports the findings."""
    if platform is not None:
        return audit_platform.run(platform, release, kubeconfig, context, namespaces, outputs)
    if release is not None:
        raise click.UsageError("--release names the release of the platform: name its values with --platform")
    targets = output.targets(outputs)
    run = session(("cluster",), **options)
    files, run = _read_cluster(run, kubeconfig, context, namespaces)
    report = _judged(run, files)
    for name, path in targets:
        output.write(name, path, report, run.rules, color=color, statistics=statistics)
    return exit_codes.exit_code(report, run.config)


def _read_cluster(
    run: Session, kubeconfig: Path | None, context: str | None, namespaces: tuple[str, ...]
) -> tuple[list[File], Session]:
    """Returns the cluster's objects, and the session for its version."""
    from trainyard.commands.audit.cluster import ClusterError, connect
    from trainyard.commands.audit.references import is_name
    from trainyard.commands.audit.survey import Survey

    for name in namespaces:
        if not is_name(name):
            raise click.UsageError(f"--namespace: `{name}` is not a valid namespace")
    try:
        cluster = connect(kubeconfig, context)
        version = cluster.version()
        survey = Survey(cluster, namespaces)
        files = survey.files()
    except ClusterError as error:
        raise click.ClickException(str(error)) from None
    for note in survey.notes:
        output.say(f"note: {note}")
    return files, at_version(run, version)


def at_version(run: Session, version: str | None) -> Session:
    """Returns the session for this version of Kubernetes, unless the user has set one."""
    if version is None or run.config.target.kubernetes is not None:
        return run
    from trainyard.linting import config
    from trainyard.linting.session import engine

    target = config.with_target("kubernetes", version, "the version of the cluster", run.config.target)
    wanted = run.config._replace(target=target)
    return run._replace(config=wanted, engine=engine(wanted, run.rules, run.engine.site))


def _judged(run: Session, files: list[File]) -> Report:
    from trainyard.linting import pipeline

    report = pipeline.lint(map(pipeline.read_file, files), run.engine, run.config.allow)
    # Live objects are in no file to which a fix could be written.
    return report._replace(findings=tuple(finding._replace(edits=()) for finding in report.findings))
